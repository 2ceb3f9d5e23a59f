"""What has one value at a time: attributes by the type of their value, tools of one kind, employers' names.

Owns the tables by which a changed value is told from one more value; promises that a noun stands here only if its
owner has one of it (a manager, not a teacher); never reads a text.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.core.guard.words import IRREGULAR_PAST, IRREGULAR_PLURALS, SAME_WORDS
from reverie.core.guard.words_zh import CHINESE

KINDS_OF_TOOLS = tuple(
    frozenset(group.split())
    for group in (
        "vim neovim emacs vscode code sublime pycharm intellij zed cursor helix",
        "postgres mysql mariadb sqlite oracle mongodb dynamodb cockroachdb",
        "jenkins circleci travis buildkite github gitlab teamcity",
        "slack teams discord mattermost zulip matrix irc",
        "chrome firefox safari edge brave opera vivaldi",
        "windows macos linux ubuntu debian fedora arch",
        "iphone android pixel",
        "react vue svelte angular solid",
        "django flask fastapi rails laravel spring",
        "npm yarn pnpm bun",
        "pip poetry uv conda pipenv",
        "aws gcp azure hetzner",
        "notion obsidian evernote onenote roam logseq",
        "bitwarden 1password lastpass keepass dashlane",
        "bash zsh fish powershell",
        "jira linear asana trello",
        "spotify tidal deezer",
        "gmail outlook protonmail fastmail",
    )
)
"""Tools of which one mostly uses one: a switch between two of a kind is a change."""

NUMBER_NOUNS = frozenset(
    """budget price cost salary rent age weight height limit quota fee rate size port timeout capacity discount
    headcount income wage deposit balance version temperature 预算 价格 房租 工资 薪水 年龄 体重 身高 费用 上限
    版本 票价 月薪 年薪 人数 押金""".split()
)
DATE_NOUNS = frozenset(
    """deadline birthday anniversary due 截止日期 生日 due-date launch-date start-date release-date 交付日期
    发布日期 出发日期 婚礼日期""".split()
)
NAME_NOUNS = frozenset(
    """manager boss employer owner landlord landlady supervisor mentor lead dentist therapist name email address phone
    hometown title role nickname username capital assignee 老板 经理 上司 负责人 房东 导师 邮箱 地址 电话 手机号
    职位 班主任 网名 主管""".split()
)
FREE_NOUNS = frozenset(
    "status timezone branch currency theme wallpaper office location 状态 时区 办公室 主题".split()
)
"""Attributes that have one value at a time, by the type of their value."""

NUMBER_VERBS = frozenset("cost weigh earn charge".split())


def _claiming() -> Iterator[str]:
    nouns = NUMBER_NOUNS | NUMBER_VERBS | DATE_NOUNS | NAME_NOUNS | FREE_NOUNS
    for noun in nouns:
        yield noun
        if noun[-1] in "ey":
            yield noun[:-1] + ("i" if noun[-1] == "y" else "ing")
    for table in (SAME_WORDS, IRREGULAR_PAST, IRREGULAR_PLURALS):
        yield from (word for word, form in table.items() if form in nouns)
    yield from (word for word, (form, _) in CHINESE.items() if form in nouns)
    yield "date"  # the date of something is one, too


CLAIMING = tuple(sorted(set(_claiming())))
"""What stands in every text in lower case that holds one of these nouns or verbs, in any form and spelling."""
CLAIMING_ASCII = tuple(word for word in CLAIMING if word.isascii())
HOLDING_VERBS = frozenset(
    """use take work live drink eat run keep deploy host drive study play store manage write develop 使用 住
    工作 喝 吃""".split()
)
"""Verbs of a lasting state that ends when its object is replaced."""
NOT_EMPLOYERS = frozenset(
    "home night weekends weekend mondays school university college remote sea school's".split()
)
COMPANY_WORDS = frozenset(
    """corp corporation inc gmbh ltd llc plc ag co company logistics labs bank group technologies technology
    systems software consulting partners studio studios media industries airlines motors pharma insurance
    capital solutions networks energy foods robotics analytics health 公司 集团 科技 银行 证券 保险 网络 软件
    实验室 事务所 google microsoft apple amazon meta netflix openai anthropic nvidia intel ibm oracle sap
    siemens bosch spotify stripe uber airbnb adobe salesforce tesla bmw volkswagen samsung sony huawei tencent
    alibaba bytedance baidu deepmind github gitlab shopify 微软 谷歌 苹果 亚马逊 腾讯 阿里 阿里巴巴 字节
    字节跳动 百度 美团 京东 华为 小米 网易 滴滴 拼多多 快手 联想 比亚迪""".split()
)
"""Words that show a name to be an employer's where the verb alone does not (`joined`, `works for`)."""
JOBS = frozenset(
    """engineer developer designer manager analyst nurse doctor teacher scientist lawyer accountant director
    lead officer architect chef researcher professor administrator programmer editor journalist assistant
    technician specialist head coordinator cto ceo cfo vp pm sre devops physician pharmacist electrician plumber
    paralegal recruiter translator producer""".split()
)
"""Last words of titles that say somebody is employed."""
MOVES = frozenset(("move to", "switch to", "migrate to", "换成", "改用", "搬到"))
NO_TITLES = frozenset("volunteer freelancer contractor consultant team part-time freelance side".split())
