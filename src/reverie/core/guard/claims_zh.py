"""How a Chinese statement says where somebody works or lives, or that he left.

Owns patterns only; each finds `subject`, a value and the `rest` behind it. Never decides what a value is worth.
"""

from __future__ import annotations

from reverie.core.text.patterns import Words

EMPLOYER_ZH = Words(
    r"^(?P<subject>.{1,12}?)(?:现在|目前|如今|已经)?(?:在(?P<value>[^在，。,；\s]{2,16}?)(?:工作|上班|任职|就职"
    r"|(?:做|当|担任|任)[^，。]{0,6}(?:经理|工程师|设计师|老师|医生|护士|律师|会计|顾问|主管|总监|程序员|分析师|编辑|记者|助理|专员|运营|产品|销售"
    r"|分析|开发|设计|测试|财务|算法|市场|行政|客服|研发))"
    r"|(?:就职于|任职于|供职于|入职了?|跳槽到了?|跳槽去了?)(?P<value2>[^在，。,；\s]{2,16}?))了?(?P<rest>(?:[，。].*)?)$"
)
JOINED_ZH = Words(
    r"^(?P<subject>.{1,12}?)(?:现在|已经)?加入了?(?P<value>[^在，。,；\s]{2,16}?)了?(?P<rest>(?:[，。].*)?)$"
)
NEW_JOB_ZH = Words(
    r"^(?P<subject>.{1,12}?)(?:\d{4}-\d\d(?:-\d\d)?|上周|上个?月|最近|刚刚?|已经)?(?:跳槽|换工作|换公司|离职|辞职)了?[，。,]"
    r"[^，。,]{0,6}?(?:新公司|新单位|现在)(?:叫|是|在)(?P<value>[^在，。,；\s]{2,16}?)(?:上班|工作)?(?P<rest>[。]?)$"
)
HOME_ZH = Words(
    r"^(?P<subject>.{1,12}?)(?:(?:最近|刚刚?|已经)?搬家了?[，。,](?P=subject)?)?(?:现在|目前|如今|已经)?(?:(?:从[^到，]{2,8})?(?:住在|居住在|定居在?|搬到了?|搬去了?|搬家到|迁居))"
    r"(?P<value>[^，。,；\s了]{2,10}?)(?:住|生活|居住)?了?(?P<rest>(?:[，。].*)?)$"
)
LEFT_ZH = Words(
    r"^(?P<subject>.{1,12}?)(?:已经)?(?:从(?P<value>[^，。]{2,16}?)(?:离职|辞职)|离开了?(?P<value2>[^，。]{2,16}?))了?(?P<rest>[，。]?)$"
)
