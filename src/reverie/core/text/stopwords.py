"""Words that carry no content in a question.

Owns the lists `core.text.tokens.query_terms` leaves out; promises they act on queries only, so that a stored text
loses nothing; never holds a word that could be a name, a number or a negated fact's object.
"""

from __future__ import annotations

ENGLISH = frozenset(
    (
        "a an the is are was were be been being am do does did doing done have has had having of to in "
        "on at for with by from and or but if then so as it its itself this that these those i me my "
        "mine myself you your yours he him his she her hers they them their theirs we us our ours what "
        "which who whom whose when where why how not no can could would will should may might shall must "
        "just about into over after before than too very also there here im ive id ill youre youve hes "
        "shes theyre theyve weve thats whats whos wheres hows dont doesnt didnt isnt arent wasnt werent "
        "cant couldnt wont wouldnt shouldnt havent hasnt hadnt tell please s t"
    ).split()
)

# Single characters and pairs that form questions and grammar in Chinese and Japanese.
HAN = frozenset(
    (
        "的 了 吗 呢 吧 啊 呀 是 在 我 你 您 他 她 它 们 这 那 和 与 及 或 就 都 也 还 又 把 被 给 对 从 "
        "到 为 以 而 但 很 什 么 怎 哪 谁 几 多 少 个 有 没 不 要 会 能 可 请 问 一 之 其 于 什么 怎么 "
        "怎样 如何 为什 哪里 哪个 哪些 哪儿 哪天 多少 几个 时候 什么时 么时 是什 我的 你的 他的 她的 "
        "我们 你们 他们 她们 是不 不是 有没 没有 是否 请问 一下 可以 这个 那个 了吗 的吗 里的 是谁 了什 "
        "何 誰 は が を に の で と も か へ や ね よ な だ た て し す る れ ら さ い う く け こ そ ど "
        "です ます でし ました した して いる ある ない から まで より など それ これ あれ どこ いつ "
        "だれ なに どれ すか ので のは には とは では とか たい ませ せん った って てい 时 候"
    ).split()
)

HANGUL = frozenset(
    (
        "은 는 이 가 을 를 에 의 도 로 와 과 요 다 까 니 나 너 저 뭐 무엇 언제 어디 누구 어떻 왜 하는 "
        "합니 습니 니다 니까"
    ).split()
)

RUSSIAN = frozenset(
    (
        "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне "
        "было вот от меня о из ему когда где кто кого чем какой какая какие какое сколько зачем почему "
        "ли мы они их мой моя мои это этот эта быть был была были есть для про или"
    ).split()
)

ARABIC = frozenset(
    (
        "في من على الى إلى عن ما ماذا متى اين أين كيف لماذا هل هو هي هذا هذه كان كانت التي الذي و او أو "
        "أن ان لا"
    ).split()
)

WORDS = ENGLISH | RUSSIAN

# Words that say how to answer, or little by themselves; they count less than what is asked about.
LIGHT = frozenset(
    (
        "both type kind sort say mention thing feel think like own more many much together some any recent recently "
        "use get make take want decide give go come see know talk look put try help need lot way "
        "summary summarize comprehensive overview describe explain list order include discuss discussion conversation "
        "throughout aspect item only bring different various"
    ).split()
)
