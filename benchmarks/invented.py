"""Invented memories of one busy agent, English and Chinese: the same seed gives the same entries, turns and questions.

Owns the data every measurement runs on; promises varied lengths, categories, fields and some tens of thousands of
distinct words, one entry after the other in time, `PER_DAY` a day; never holds anybody's real words.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from reverie.core.records import Entry, Remember, Turn

SEED = 20_260_701
PER_DAY = 500
FIRST = datetime(2020, 1, 1, 6, tzinfo=UTC)

_FIRST_NAMES = (
    "Amara Bruno Celia Dmitri Elif Farid Greta Hana Imani Joona Katya Lars Mina Nadia Oskar Priya Quentin Rosa Sven "
    "Tomas Uma Viktor Wen Xenia Yusuf Zoe"
).split()
_SYLLABLES = (
    "ba be bi bo ca ce co da de do el en fa fe ga go ha he il in ja jo ka ke ko la le li lo ma me mi mo na ne no or pa "
    "pe po ra re ri ro sa se si so ta te ti to ul un va ve vi vo wa we ya yo za ze zo"
).split()
_THINGS = (
    "invoice dashboard contract backup pipeline report warehouse roadmap login migration newsletter sensor printer "
    "budget schedule workshop prototype licence handbook survey ledger deployment cache queue battery bicycle boiler "
    "garden piano recipe passport visa lease mortgage insurance vaccine allergy marathon concert exhibition bookshelf"
).split()
_QUALITIES = (
    "compact quarterly overdue bilingual nightly encrypted provisional shared printed weekly handwritten borrowed "
    "blue narrow refurbished signed recurring anonymous seasonal paperless"
).split()
_VERBS = (
    "prefers avoids reviews maintains sponsors translates repairs teaches audits collects schedules documents"
).split()
_PLACES = "Lisbon Kraków Osaka Nairobi Bergen Puebla Leipzig Cusco Izmir Hobart 杭州 成都 厦门 青岛".split()
_MONTHS = "January February March April May June July August September October November December".split()
_TAGS = "product ops career family health travel finance ui infra legal hiring 团队 家庭 出差".split()
_CATEGORIES = (
    ["fact"] * 30
    + ["preference"] * 14
    + ["work"] * 10
    + ["project"] * 10
    + ["technical"] * 10
    + ["episode"] * 9
    + ["decision"] * 6
    + ["personal"] * 5
    + ["lesson"] * 3
    + ["goal"] * 2
    + ["procedure"]
)
_ZH_SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦许何吕施张孔曹严华金魏陶姜"
_ZH_GIVEN = "明华丽强敏静伟芳娜磊洋艳勇军杰娟涛超秀霞平刚桂英文辉玲云"
_ZH_THINGS = (
    "发票 看板 合同 备份 报表 仓库 路线图 登录页 迁移 传感器 预算 日程 原型 手册 缓存 自行车 钢琴".split()
)
_ZH_VERBS = "喜欢 负责 正在评审 不再使用 计划更换 上周修好了 同意共享 想要翻译".split()
_SMALL_TALK = (
    "Thanks, that helps a lot.",
    "Can you say that again more slowly?",
    "Ha, good one.",
    "One moment, the kettle is boiling.",
    "谢谢，明白了。",
    "好的，稍等一下。",
)


class Inventor:
    """A source of invented memories; each method goes on where the last one left the lots."""

    def __init__(self, seed: int = SEED) -> None:
        """Begin at `seed`."""
        self._lot = random.Random(seed)
        self._names = [self._word(3).capitalize() for _ in range(4_000)]
        self._companies = [f"{self._word(3).capitalize()} {self._word(2).capitalize()}" for _ in range(3_000)]
        self._terms = [self._word(4) for _ in range(12_000)]

    def _word(self, syllables: int) -> str:
        return "".join(self._lot.choice(_SYLLABLES) for _ in range(syllables))

    def _person(self) -> str:
        return f"{self._lot.choice(_FIRST_NAMES)} {self._lot.choice(self._names)}"

    def _rank(self, words: list[str]) -> str:
        """Return one of `words`, the first ones far more often, as words are in any text."""
        return words[int(len(words) * self._lot.random() ** 3)]

    def _zh_person(self) -> str:
        return self._lot.choice(_ZH_SURNAMES) + "".join(
            self._lot.choices(_ZH_GIVEN, k=self._lot.randint(1, 2))
        )

    def statement(self) -> str:
        """Return one sentence worth remembering; one in four is Chinese."""
        lot = self._lot
        number, month, day = lot.randint(2, 9_999), lot.randint(1, 12), lot.randint(1, 28)
        thing, quality, place = lot.choice(_THINGS), lot.choice(_QUALITIES), lot.choice(_PLACES)
        if lot.random() < 0.25:
            who, what = self._zh_person(), lot.choice(_ZH_THINGS)
            return lot.choice(
                (
                    f"{who}{lot.choice(_ZH_VERBS)}{what}，编号{number}。",
                    f"{who}在{place}的{what}预算是{number}元，{month}月{day}日到期。",
                    f"{self._rank(self._companies)}的{what}由{who}负责，改为每{lot.randint(2, 9)}周检查一次。",
                )
            )
        who, company, term = self._person(), self._rank(self._companies), self._rank(self._terms)
        return lot.choice(
            (
                f"{who} {lot.choice(_VERBS)} {quality} {thing}s about {term}.",
                f"{who} now works at {company} in {place} on the {term} {thing}.",
                f"The {quality} {thing} for {company} costs {number} euros and ends on 2026-{month:02d}-{day:02d}.",
                f"We decided to move the {thing} of {company} to {term} because it failed {number} times.",
                f"{who}'s {thing} arrives in {place} on {day} {_MONTHS[month - 1]}; ask for {term} {number}.",
                f"To restart the {term} {thing}, stop {self._rank(self._terms)} first, then wait {number} seconds.",
                f"{who} is allergic to {term} and must not be offered the {quality} {thing}.",
            )
        )

    def text(self) -> str:
        """Return the text of an entry: mostly one sentence, now and then several."""
        return " ".join(self.statement() for _ in range(self._lot.choices((1, 2, 4), (80, 17, 3))[0]))

    def entries(self) -> Iterator[Entry]:
        """Yield entries without end, `PER_DAY` a day, in the order they were said."""
        lot, number, step = self._lot, 0, timedelta(hours=16) / PER_DAY
        while True:
            day, of_day = divmod(number, PER_DAY)
            at = (FIRST + timedelta(days=day) + of_day * step).replace(microsecond=0)
            text = self.text()
            extracted = lot.random() < 0.7
            yield Entry(
                id=f"{lot.getrandbits(64):016x}",
                text=text,
                at=at,
                day=at.date().isoformat(),
                category=lot.choice(_CATEGORIES),
                tags=tuple(lot.sample(_TAGS, lot.choice((0, 0, 1, 1, 2)))),
                sig=round(lot.betavariate(2, 3), 2) if lot.random() < 0.5 else None,
                about=text.split(maxsplit=1)[0] if lot.random() < 0.3 else "",
                origin="user" if extracted else "agent",
                session=f"chat-{number // 40:06d}" if extracted else "",
                turns=f"{of_day}" if extracted else "",
                evidence=f"I'd say {text[:60]}" if extracted and lot.random() < 0.6 else "",
            )
            number += 1

    def records(self) -> Iterator[Remember]:
        """Yield the journal records that bring the entries."""
        for entry in self.entries():
            yield Remember(id=entry.id[::-1], at=entry.at, entry=entry)

    def turns(self, telling: float = 1 / 3) -> Iterator[Turn]:
        """Yield the turns of a conversation: so large a share of the user's says something to remember."""
        lot, at, user = self._lot, FIRST, True
        while True:
            at += timedelta(seconds=lot.randint(5, 90))
            if not user:
                content = f"Noted. {self.statement()} Shall I look into the {lot.choice(_THINGS)} as well?"
            elif lot.random() < telling:
                content = lot.choice(
                    (
                        f"I work at {self._rank(self._companies)} and live in {lot.choice(_PLACES)}.",
                        f"I prefer {lot.choice(_QUALITIES)} {lot.choice(_THINGS)}s. {lot.choice(_SMALL_TALK)}",
                        f"We decided to use {self._rank(self._terms)} for the {lot.choice(_THINGS)}.",
                        f"Please remind me to call {self._person()} next Friday.",
                        f"我喜欢{lot.choice(_ZH_THINGS)}，下周三要给{self._zh_person()}打电话。",
                    )
                )
            else:
                content = f"{lot.choice(_SMALL_TALK)} What about the {self._rank(self._terms)} {lot.choice(_THINGS)}?"
            yield Turn(role="user" if user else "assistant", content=content, at=at)
            user = not user

    def kilobyte(self) -> str:
        """Return a text of 1,000 bytes, as one long turn or memory."""
        data = b""
        while len(data) < 1_000:
            data += self.statement().encode() + b" "
        return data[:1_000].decode("utf-8", "ignore").strip()

    def question(self, entry: Entry) -> str:
        """Return what somebody may ask who looks for `entry`: some of its words, or a few that are in none."""
        lot = self._lot
        if entry.text.count(" ") < 3:  # Chinese, which puts no blanks between words
            start = lot.randrange(max(1, len(entry.text) - 8))
            return entry.text[start : start + lot.randint(2, 8)]
        words = entry.text.rstrip(".").split()
        kept = " ".join(words[index] for index in sorted(lot.sample(range(len(words)), min(4, len(words)))))
        return lot.choice(
            (f"what do we know about {kept}?", kept, f"{kept} {self._word(5)}", f"when was {kept}")
        )
