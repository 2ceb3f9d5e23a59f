"""Which way the dates of a Chinese clause point: behind it, where it tells the past, or to a thing still to come.

Owns the words that tell. A time stands before the verb that it is the time of, so a date behind a verb that is done
(`拿到了1月5日的面试通知`) is not when that was done; promises that such a date is given a direction by the verb,
and is left as it was said where that does not tell. Never reads a clock, or a date that names its year.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from reverie.core.text.patterns import Words
from reverie.model.rules import when_zh
from reverie.model.rules import words_zh as words
from reverie.model.rules.when import Anchor, Dated, Dates, Way

_DONE = Words(r"了(?!解)|过(?!来|去|年|期|敏|几天|一会|一遍|目|户|程)|以来")
_GOT = Words(
    r"""拿到|收到|接到|得到|买|订|定|抢到|抢|约|报名|报|排|安排|通知|邀请|请|领到|被分|分到|中签|拿了|给|发来|寄来|送"""
)
_WENT = Words(
    r"""参加|去|来|开|吃|看|考|做|结束|错过|赶|见|听|出席|完成|面试|上|过|跑|玩|聊|办|度过|忘|取|坐|写|交|讲|主持"""
)
_EVENT = Words(
    r"""的?[^,。]{0,8}?(?:面试|考试|婚礼|票|航班|高铁|火车|飞机|手术|会议|会|预约|门诊|号|演唱会|演出|音乐会|比赛|聚会|聚餐|饭局
    |通知|邀请|请柬|请帖|课|活动|讲座|体检|复查|答辩|酒店|房间|民宿|行程|培训|团|典礼|展|位子?|座|车|船)"""
)
_CALLED_OFF = Words(r"[^,。]{0,10}?(?:取消|推迟|延期|改期|改到|挪到|提前)")
_MOVED = Words(r"(?:改|推迟|延|延期|提前|挪|定|约|安排|排|订|推|换|顺延)(?:到|在|成|至)了?$")


@lru_cache(maxsize=16)  # a clause is asked for its dates by each judgement that needs them
def dates(said: str, anchor: Anchor) -> Dates:
    """Return the times that a clause names: those that are certain, and those of which nobody knows which is meant."""
    flat = said.translate(words.FLAT)
    near = when_zh.find(said, anchor)
    past = words.PAST.search(flat) is not None
    if not near:
        return Dates(near)
    coming = when_zh.find(said, replace(anchor, ahead=True))
    if not past or words.AHEAD.search(flat) is not None:
        comes = words.AHEAD.search(flat) is not None or words.HAPPENS.search(flat) is not None
        return Dates(coming if comes else near)
    behind = when_zh.find(said, replace(anchor, past=True))
    return Dates.between(coming, behind, way=lambda one: _way(flat, one))


def _way(flat: str, one: Dated) -> Way:
    """Say which way a date points in a clause about the past."""
    before, after = flat[: one.start], flat[one.end :]
    if _MOVED.search(before):
        return "ahead"
    if _DONE.search(after) or not _DONE.search(before):
        return "" if _CALLED_OFF.match(after) else "behind"
    got, went = (max((one.end() for one in verb.finditer(before)), default=0) for verb in (_GOT, _WENT))
    if got and got >= went:
        return "ahead" if _EVENT.match(after) else ""
    return "behind" if went else ""
