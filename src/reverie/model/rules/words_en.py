"""The English words around a statement: openings, questions, jokes, hypotheses, requests and tenses.

Owns patterns only. Those made by `Words(..., fold=True)` read the words as said, the others the expanded clause in
lower case. Promises that each is linear in a sentence. Never decides anything by itself.
"""

from __future__ import annotations

from reverie.core.text.letters import CAPITALS
from reverie.core.text.patterns import Words

SHORTEST = 8  # characters of a sentence
SHORTEST_CLAUSE = 6  # "I'm Bo" and "I'm 34"
_NEXT = r"""(?=(?:i|i['’]\w+|we|we['’]\w+|my|our|the|let['’]s|please|remember|that|to|yes|no|and|here['’]?s?
    |after|before|on|from now)\b)"""

LEAD = Words(
    rf"""(?:(?:hi|hey|hello|good morning|morning|good evening|dear)(?: (?:there|again
    |[A-Z]\w+))?\s*[,!.:–—-]+|(?:ok(?:ay)?|so|well|oh|ah|yes|yeah|yep|yup|sure|right|great|perfect
    |nice|cool|lovely|thanks?(?: (?:you|a lot|so much))?|btw|by the way|fyi|also|and|but|then|anyways?
    |alright|hmm+|honestly|basically|officially|first|second|third|finally|lastly|important|note
    |p\.?s\.?|(?:one|another) (?:more |other )?thing|unrelated|side note|for the record|heads[- ]up
    |housekeeping|quick (?:update|note|one|heads[- ]up)|update|news|(?:good|bad|big) news
    |in other news|just so you know|(?:please )?note that|as (?:i|you) (?:said|know|mentioned)
    |for (?:context|reference|what it['’]s worth|your information)|in case you \w+(?: \w+)?|reminder
    |keep in mind that|to be clear|got it|understood|done|no (?:problem|worries)|of course|absolutely
    |noted|agreed|not yet|(?:small |quick )?correction|nope|no|actually|wait|sorry|my (?:mistake|bad)
    |i misspoke|i was wrong(?: (?:about \w+|earlier|before))?|oops|scratch that|not quite
    |oh right)(?:\s*[,:!.–—]+\s*|\s+-\s+|\s+{_NEXT})|(?:(?:please|can you|could you|you should
    |and) )?(?:remember|note|don['’]t forget|do not forget|never forget|keep in mind|make a note
    |write down|save|store|memori[sz]e)(?:(?: this| that)?\s*[:,–—]| that\b)\s*
    |(?:please (?:remember|note|keep in mind)|(?:please )?(?:don['’]t|do not|never) forget|keep in mind)
    (?= (?:i|i['’]m|my|we|our)\b)|you (?:can|may)(?= call me\b)|i (?:think|believe
    |guess|just wanted to (?:say|tell you|mention)|should (?:mention|add|say)
    |forgot to (?:mention|say
    |tell you))(?: that)?,? (?=(?:i|we|my|our|the)\b)|(?-i:(?:And|But|So|Also),? (?=[A-Z])))\s*""",
    fold=True,
)
_FIRST = Words(r"[A-Za-z]+")
_LEADS = frozenset(  # the words with which `LEAD` begins
    r"""hi hey hello good morning dear ok okay so well oh ah yes yeah yep yup sure right great perfect nice
    cool lovely thank thanks btw by fyi also and but then anyway anyways alright honestly basically
    officially first second third finally lastly important note p ps one another unrelated side for heads
    housekeeping quick update news bad big in just please as reminder keep to got understood done no of
    absolutely noted agreed not small correction nope actually wait sorry my i oops scratch can could you
    remember don do never make write save store memorise memorize""".split()
)


def may_lead(said: str, at: int) -> bool:
    """Say whether `LEAD` may match at a place, by the first word there."""
    first = _FIRST.match(said, at)
    if first is None:
        return not said[at : at + 1].isascii()
    low = first[0].lower()
    return low in _LEADS or low.startswith("hm") or not said[first.end() : first.end() + 1].isascii()


CORRECTS = Words(
    r"""\b(?:correction|nope|no|actually|wait|sorry|mistake|my bad|misspoke|wrong|oops|scratch that
    |not quite)\b""",
    fold=True,
)
ORDERS = Words(
    r"""\b(?:remember|don['’]t forget|not forget|never forget|keep in mind|make a note|write down|save
    |store|memori[sz]e|note that)\b""",
    fold=True,
)
REMIND = Words(r"""(?:(?:please|can you|could you|would you|will you|and|so) )*remind me(?P<what> (?:to|about|that
    |of) \w)?""")
ASKS = Words(
    r"""(?:what|why|how|when|where|who|whose|which|do|does|did|is|are|was|were|can|could|would|should
    |shall|will|have|has|am|may|any|isn't|aren't|don't|doesn't)(?:['’]s|['’]re)? (?:i|you|we|it|he|she
    |they|the|this|that|there|your|my|our|is|are|do|does|did|should|would|can|about|many|much|long
    |often|if|to|idea|chance|one|way|[a-z]+ (?:should|do|does|is|are|would))\b[^,.]*\?""",
    fold=True,
)
ASKED = Words(
    r"""(?:[,;:–—-]+ ?(?:(?:so|and|but|then|now) )?|\b(?:so|and|but) )(?=(?:what|why|how|when|where|who
    |which|do|does|did|is|are|can|could|would|should|will|any|have|has|right|ok|okay|correct|remember
    |got it)\b)""",
    fold=True,
)
JOKING = Words(
    r"""\b(?:just kidding|kidding|joking|jk|lol|lmao|rofl|haha\w*|hehe\w*|yeah,? right|sarcasm|/s
    |not!)(?:\b|$)|[😂🤣😜😝😏🙃😉]|\b(?:oh,? (?:great|joy|wonderful|lovely|fantastic)|just (?:love
    |adore) (?:it )?(?:when|how|that|being|spending|waiting)|as if|because who doesn't)\b
    |\b(?:love (?:it when|nothing more than|how)|obviously the best|best day ever|what could go wrong
    |how fun|living the dream)\b|\b(?:marry (?:this|that|you|it|the)|worship|sell my (?:soul|kidney
    |\w+ to)|live in the (?:server|office)|become a (?:monk|goat|shepherd|hermit|baker)|move to mars
    |goat farm\w*|with my life|over my dead body)\b""",
    fold=True,
)
_JOKES = (
    *(
        "kidding",
        "joking",
        "jk",
        "lol",
        "lmao",
        "rofl",
        "haha",
        "hehe",
        "yeah",
        "sarcasm",
        "/s",
        "not!",
        "oh",
        "just love",
        "adore",
        "as if",
    ),
    *(
        "because who",
        "love",
        "best",
        "wrong",
        "how fun",
        "dream",
        "marry",
        "worship",
        "sell my",
        "live in the",
        "become a",
        "mars",
        "goat",
    ),
    *("my life", "dead body"),
)


def joking(said: str) -> bool:
    """Say whether a sentence is a joke or means the opposite."""
    low = said.lower()
    hinted = not low.isascii() or any([hint in low for hint in _JOKES])  # noqa: C419 - half the time of a generator
    return hinted and JOKING.search(said) is not None


HYPOTHETICAL = Words(
    r"""^(?:and |but |so )?if (?:i|we|you|he|she|they|it|there|my|our|someone|anyone|everything|all
    |only)\b|\bif (?:i|we|you|he|she|they) (?:were|had|did|could|ever|moved|won|got)\b|\b(?:what if
    |would have|could have|i wish|wish i|imagine|suppose|supposing|hypothetical\w*|in theory
    |let us say|might|maybe|perhaps|not sure|thinking (?:about|of)|considering|tempted|wondering
    |i wonder|unless|as though|no idea|do not know|not decided|undecided|whether|dream(?:ed|t) (?:that
    |i)|for example|e\.g\.|pretend|role-?play|in (?:my|the|a) (?:story|novel|dream|game))\b
    |^i (?:would|could) (?!prefer|rather|never|like you to)"""
)
CLAUSE = Words(
    r"""(?:[,;]|\s[–—-])\s+(?:(?:and|but|so|while|also|plus|though|although|which is why)\s+)?
    (?=(?:I|I['’]\w+|my|we|we['’]\w+|our|let['’]s|please|can you|could you|so please|from now on|remember|remind me
    |(?:(?:he|she|they)(?:['’]\w+)?|(?:the|today|tomorrow)\b(?=[^,;]{2,60} (?:is|are|moved|was))))\b)
    |\s(?:and|but|so)\s+(?=(?:I|I['’]\w+|my|we|we['’]\w+|our|let['’]s|please|from now on|remind me)\s)"""
)
LIVES_AND = Words(
    r"(?P<home>(?P<who>I|We|we)(?: now| currently| still)? live (?:in|at|near) [^,;.]{2,60}?),? and "
    r"(?P<rest>(?:(?:now|currently|still) )?(?:work|study|freelance|teach|run|lead|manage)\b)"
)
_CUTS = (",", ";", "and", "but", "so", "-", "–", "—")


def may_cut(body: str) -> bool:
    """Say whether `CLAUSE` may be found in a text; a few letters are looked for faster than it is."""
    return any([cut in body for cut in _CUTS])  # noqa: C419 - as above


LABEL = Words(
    r"""(?:deadline|due|decision|decided|final decision|lesson|lesson learned|takeaway|note to self|goal
    |budget|reminder|to \w+|how to|steps|(?:before|after|when|whenever|if) \w|[^:]{0,60}\b(?:run
    |like this|steps|procedure|process|how))\b""",
    fold=True,
)
REQUEST = Words(
    r"""(?:please|can you|could you|would you|will you|show|write|make|give|fix|add|create|explain|tell me
    |help|let me|let us|check|look|find|try|rename|refactor|run|open|list|summari[sz]e|translate
    |generate|draft|send|go ahead|do (?:it|that|this|not)|use|change|update|remove|delete|move|put|set
    |keep going|continue|stop|start|wait|hold on|thank\w*|sorry|i (?:want|need|would like
    |would love) (?:you to|a|an|some|the|to (?:know|see|understand|ask|check|fix|add|be able)|help))\b"""
)
VAGUE = Words(
    r"""\b(?:i (?:see|agree|understand|mean|hope (?:you|so|that|it)|bet|feel|know|appreciate)|good (?:luck
    |night|point|idea)|see you|talk (?:soon|later)|have a (?:nice|good|great)|thank (?:you|god)
    |no problem|you are (?:welcome|right|the))\b"""
)
# Behind a quotation: whose it is.
SPOKEN = Words(
    r"""[,.!?]["”'’] (?:[\w.'’-]+ ){0,3}?(?:said|says|asked|wrote|told|replied|answered|shouted|reads)\b"""
)
# What a request is about, in the first person of whoever is to say it: "write a mail: I'm Max".
DICTATED = Words(r""": +["“'‘]?(?:I|I['’]\w+|[Mm]y|[Ww]e|[Ww]e['’]\w+)\b""")
TOLD = Words(r"i (?:just |already )?(?:told|asked|said|mentioned|wrote|showed|gave|sent)\b")
DANGLING = Words(r"""(?:it|this|that|these|those|they|he|she|him|her|them|there|here|which|who|where|what|when|how|why
    |to|of|you)\b""")
DECLARES = Words(
    r"""[\w'’\"`./ -]{2,80}?\b(?:is|are|was|has|have|needs?|uses?|runs?|goes?|lives?|starts?|ends?|costs?
    |takes?|likes?|wants?|must|will|can|does|do|reads?|gets?|comes?|knows?)\b \S"""
)
HEDGES = Words(
    r"""\b(?:I think|I believe|I guess|probably|apparently|supposedly|as far as I (?:know|remember)|iirc
    |I heard|should be|seems?)\b""",
    fold=True,
)
CORRECTION = Words(r"""(?!(?:it|this|that|these|those|they|he|she|there|i|you)\b)[\w'’` .-]{2,60}?\b(?:is|are|was
    |were)\b.{2,120}""")
THIRD = Words(
    r"""(?:(?P<name>[A-Z][a-zà-ÿ]+) (?:also |just |now )?(?:said|says|told me|mentioned|confirmed
    |wrote)(?: that)?,? )?(?P<pronoun>(?:[Hh]er|[Hh]is|[Hh]e|[Ss]he|their|they)\b(?:['’](?:s|ll
    |d)\b)?)? ?"""
)

# As `\b(?:he|she|his|her|they|their)\b`, but the search skips to a letter with which one begins.
OTHER = Words(r"[HhSsTt](?<!\w\w)(?:(?<=[Hh])(?:e|is|er)|(?<=[Ss])he|(?<=[Tt])he(?:y|ir))\b")

MAYBE_DATE = Words(
    r"""\d|day|week|month|year|quarter|tonight|tomorrow|morning|afternoon|evening|\bago\b|\bnight\b
    |\beo[dwmy]\b|noon|\b(?:mon|tues?|wed|thu|thurs?|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sept?
    |oct|nov|dec|march|april|june|july|august|september|october|november|december|january|february)\b"""
)
_DATE_HINTS = tuple(
    r"""day week mon year quarter tonight tomorrow ago night eo noon evening tue wed thu fri sat sun jan feb mar
    apr may jun jul aug sep oct nov dec morning""".split()
)
_DIGIT = Words(r"[0-9]")


def may_date(low: str) -> bool:
    """Say whether a text in lower case may name a date; few do, and each of the words is looked for fast by itself."""
    hinted = not low.isascii() or any([hint in low for hint in _DATE_HINTS])  # noqa: C419 - as above
    if not hinted and not _DIGIT.search(low):
        return False
    return MAYBE_DATE.search(low) is not None


PAST = Words(
    r"""(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bam )\b(?!need|feed|embed|speed|indeed|hundred|shared|named
    |red\b|bed\b|based|interested|supposed|called|used to|unrelated|united|related|wanted)(?:\w{2,}ed
    |was|were|had|did|went|got|made|took|bought|found|met|left|lost|won|sold|told|said|saw|came|began
    |became|broke|built|chose|drew|drove|ate|felt|fell|flew|gave|grew|held|kept|knew|led|paid|ran|rode
    |sent|showed|slept|spent|spoke|stood|swam|taught|thought|threw|woke|wore|wrote|brought|caught|quit
    |shipped|just)\b"""
)
AHEAD = Words(
    r"""\b(?:will|going to|have to|has to|need to|needs to|must|should|shall|is due|are due|deadline|next
    |tomorrow|upcoming)\b"""
)

_CONCRETE = Words(
    rf"""\d|`[^`]+`|\w_\w|\w/\w|\b[a-z]+[A-Z]\w|\b[A-Z]{{2,}}\b
    |(?<=[a-z,:;)('’] )(?:[{CAPITALS}](?:[a-z]|[^\W\d_A-Z]|[\u0300-\u036f]))|[“\"][^”\"]{{2,}}
    |^[A-Z][a-z]+[A-Z]|[€$£¥]"""
)
_COMMAND = Words(
    r"""`[^`]+`|(?<![\w/])(?:\./|/)[\w./-]{3,}|\b(?:git|docker|npm|npx|yarn|pip|make|kubectl|cargo|ssh
    |systemctl|python|pytest|terraform|ansible\w*|brew|apt|uv|poetry|rsync|curl|psql|pg_\w+|sudo|helm
    |alembic|manage\.py) (?:[\w./:=@-]+|-)|\s--?[a-z]\w*|\b\w+\.(?:sh|py|toml|ya?ml|json|env|conf)\b
    |\b(?:Ctrl|Cmd|Alt|Shift)[+-]\w"""
)


def concrete(said: str) -> bool:
    """Say whether a text names something that can be looked up: a number, code, a path, a name inside the sentence."""
    return _CONCRETE.search(said) is not None


def command(said: str) -> bool:
    """Say whether a text holds a command, a path or a key to press."""
    return _COMMAND.search(said) is not None
