"""The one to three words by which an entry is filed.

Owns the topics and what counts as a name. Never reads a turn.
"""

from __future__ import annotations

from functools import cache

from reverie.core.text.patterns import Words
from reverie.core.text.stopwords import ENGLISH

_MOST = 3
_TOPICS = {
    "health": (
        r"""allergic allergy allergies asthma diabetes diabetic doctor dentist hospital surgery medicine
        migraine migraines therapy therapist gym penicillin vaccination 过敏 医院 体检 牙医 看牙 吃药
        医生 健身 手术 血压"""
    ),
    "diet": (
        r"""eat eats eating drink drinks vegan vegetarian pork meat coffee tea food cook cooks gluten
        sugar cilantro recipe 不吃 喜欢吃 爱吃 喝 咖啡 素食 香菜 口味 辣"""
    ),
    "career": (
        r"""works worked employer promoted promotion salary joined hired career colleague boss manager job
        engineer resigned 上班 工作 入职 跳槽 离职 辞职 公司 升职 老板 同事"""
    ),
    "family": (
        r"""wife husband son daughter kid kids children mother father mom mum dad sister brother parents
        married wedding baby grandmother grandfather partner 妈 爸 老婆 老公 妻子 丈夫 儿子 女儿 孩子
        姐姐 妹妹 哥哥 弟弟 奶奶 爷爷 外婆 外公 结婚"""
    ),
    "pets": "cat cats dog dogs puppy kitten pet pets 猫 小狗 宠物",
    "home": r"""lives apartment flat house landlord rent neighbour neighbor address kitchen 住在 搬到 搬家 房东
    房租 小区 装修""",
    "travel": (
        r"""flight trip travels travelling traveling hotel vacation holiday visa passport train airport
        visiting visited flying 机票 出差 旅行 旅游 酒店 护照 签证 高铁 航班"""
    ),
    "meeting": (
        r"""meeting meetings call calls standup kickoff appointment interview workshop conference demo
        retro 会议 开会 面试 例会 周会 家长会 评审"""
    ),
    "deadline": "deadline due submit submitted expires 截止 期限 提交 到期 交稿",
    "money": (
        r"""budget price cost costs invoice invoices pay paid eur usd euros dollars tax taxes rate € $ £
        预算 价格 费用 发票 工资 房租 物业费 万元 块钱"""
    ),
    "deploy": r"""deploy deploys deployed deployment deployments release releases rollback staging production ship
    部署 发布 上线 回滚""",
    "database": (
        r"""database postgres postgresql mysql sqlite redis mongodb migration migrations schema sql
        clickhouse 数据库 迁移 主库 从库"""
    ),
    "testing": "test tests pytest ci coverage jest 测试 用例",
    "git": "git branch commit commits merge rebase 分支 合并 提交代码",
    "editor": "vim neovim emacs vscode editor ide tabs indentation helix 编辑器 缩进",
    "style": "answer answers replies reply emojis concise tone wording 回答 回复 简洁 语气 表情",
    "study": r"""learn learning learns course exam studying studies university degree 学习 学会 考试 课程 大学 读书
    英语 日语 自学""",
    "sport": r"""running marathon swim swims swimming bike cycling yoga climbing hiking football tennis 跑步 马拉松
    全马 游泳 骑车 瑜伽 爬山 篮球""",
    "music": "music guitar piano band concert choir 音乐 吉他 钢琴 乐队 演唱会",
    "backup": "backup backups 备份",
}
_NAMES = Words(
    r"""`([\w./-]{2,24})`|(?<![.!?] )(?<!^)\b([A-Z][\w+#.-]{1,20}\w|[a-z]+_[a-z_]+)\b
    |(?<=[\u4e00-\u9fff])([A-Za-z][\w+#.-]{1,20})"""
)
_WORD = Words(r"[a-z]+|[€$£]")
_LONG = Words(r"(?<![\w`-])[a-z]{4,20}(?![\w`-])")
_NO_NAMES = frozenset(
    r"""user agent the team and others on in at by it i monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december
    correction decided eur usd every week user""".split()
)
_NO_TOPICS = ENGLISH | _NO_NAMES


@cache
def _latin() -> dict[str, str]:
    return {word: tag for tag, words in _TOPICS.items() for word in words.split() if ord(word[0]) < 0x3000}  # noqa: PLR2004


@cache
def _han() -> tuple[Words, dict[str, str]]:
    tags_ = {word: tag for tag, words in _TOPICS.items() for word in words.split() if ord(word[0]) >= 0x3000}  # noqa: PLR2004
    return Words("|".join(sorted(tags_, key=len, reverse=True))), tags_


def tags(text: str, category: str) -> tuple[str, ...]:
    """Choose one to three lower-case words: at most two topics, then names; else long words, else the category."""
    low, latin = text.lower(), _latin()
    found = [latin[word] for word in _WORD.findall(low) if word in latin]
    if not text.isascii():
        pattern, han = _han()
        found += [han[word[0]] for word in pattern.finditer(low)]
    found = list(dict.fromkeys(found))[:2]
    for match in _NAMES.finditer(text):
        word = (match[1] or match[2] or match[3]).strip("./-").lower()
        if len(word) > 1 and word not in _NO_NAMES and word not in found:
            found.append(word)
        if len(found) >= _MOST:
            break
    if not found:
        long = list(dict.fromkeys(word[0] for word in _LONG.finditer(low) if word[0] not in _NO_TOPICS))[:12]
        found = sorted(sorted(long, key=len, reverse=True)[:2], key=long.index)
    return tuple(found[:_MOST]) or (category,)
