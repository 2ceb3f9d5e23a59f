"""The English words for what lasts: what a clause says that stays true of its subject.

Owns patterns only; a predicate is matched where it begins, in expanded lower case. Never decides alone what is kept.
"""

from __future__ import annotations

from reverie.core.text.patterns import Words
from reverie.core.text.stopwords import ENGLISH
from reverie.model.rules.subject_en import PROJECT, TECH, VERB

_ADV = r"""(?:(?:really|also|still|now|usually|generally|typically|mostly|always|often|rarely|strongly
    |personally|actually|currently|recently|finally|already|only|just|much|normally|sometimes
    |definitely|absolutely|both|have|has|am|is|are|been|kind of|quite|totally|all|do|does|very
    |officially|since|got|used to) )*"""
_NEG = r"""(?:(?:do not|does not|did not|no longer|not|never|can not|could not|will not|have never
    |has never) (?:really |even |like to )?)?"""
_OBJ = r"""(?! (?:it|this|that|these|those|them|him|her$|her[.!]|you|your|how|what|when|where|if|so|about it
    |the (?:idea|look|sound|way|first|second|third|last|new|other|old|plan|option|name|approach|result
    |direction|version|part|fact|answer|suggestion|draft|design|colou?r)|to (?:see|know|hear|ask|check
    |say|think|thank|add|make sure|believe|point|be able)|seeing|hearing|the \w+(?: \w+)?$|to$
    |all the)\b)"""
_JOB = r"""(?:engineer|developer|programmer|designer|teacher|nurse|student|lawyer|doctor|analyst|consultant
    |freelancer|manager|director|accountant|architect|scientist|researcher|writer|editor|journalist
    |photographer|chef|electrician|carpenter|plumber|founder|cto|ceo|cfo|translator|therapist
    |pharmacist|librarian|pilot|musician|artist|lead|intern|postdoc|professor|contractor|admin\w*
    |recruiter|owner|maintainer|baker|barista|mechanic|physiotherapist|vet|veterinarian|dentist
    |paramedic|midwife|farmer|gardener|tester|sre)"""
_LANGUAGE = r"""(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|turkish|arabic|chinese
    |mandarin|cantonese|japanese|korean|hindi|swedish|danish|norwegian|finnish|greek|czech|hebrew
    |ukrainian|vietnamese|thai)"""

_SELF_STATES = tuple(
    (category, Words(_ADV + pattern))
    for category, pattern in (
        ("lesson", r"(?:learned|learnt) (?:that|the hard way|to (?:always|never))"),
        (
            "personal",
            rf"""{_NEG}(?:am|was|is|are|were|been|became|turned
            |turning)? ?(?:not )?(?:an? |a strict |mostly |severely |mildly )?(?:vegan|vegetarian
            |pescatarian|allergic to|lactose|gluten|coeliac|celiac|diabetic|pregnant
            |(?:getting )?married|divorced|engaged|widowed|retired|left-handed|colou?r-?blind|dyslexic
            |deaf|bilingual|intolerant|\d{{1,2}} years old
            |\d{{2}}(?: now)?(?=[.!]*$| and (?:have|live|work|come|study)\b)
            |(?:originally )?from (?!the (?:start|beginning)|now|here)\w|based in|born)""",
        ),
        (
            "personal",
            r"""(?:live|lives|lived|living) (?:in|on|at|with|near|alone|together)\b(?! (?:hope|fear|it
            |this|the moment))""",
        ),
        (
            "personal",
            r"""(?:moved|am moving|moving|grew up|relocated|relocating|emigrated) (?:to|from|in|into|back
            |out) (?!the (?:next|new|file|other)|it|this|that|on\b)""",
        ),
        (
            "personal",
            rf"""{_NEG}(?:have|has|had|adopted|own|owns|got) (?:(?:an?|one|two|three|four|five|no|\d+
            |another|severe|bad|chronic|mild|my) )?(?:[\w-]+ ){{0,3}}(?:kids?|child(?:ren)?|sons?
            |daughters?|cats?|dogs?|pupp(?:y|ies)|kittens?|pets?|rabbits?|brothers?|sisters?|siblings?
            |twins|wife|husband|girlfriend|boyfriend|partner|car|bike|house|flat|apartment|garden
            |migraines?|allerg(?:y|ies)|asthma|diabetes|adhd|autism|condition|degree|phd
            |driving licen[sc]e|boat|van|motorbike|horse|parrot)\b""",
        ),
        ("personal", r"(?:drive|ride) (?:an?|my) (?:\d{4} )?(?!lot|long|few|while|bit|hard|way)\w"),
        ("personal", rf"{_NEG}(?:speak|speaks|understand) (?:fluent |a little |some |only )?{_LANGUAGE}"),
        (
            "personal",
            r"""(?:study(?:ing)? (?!for|how|what|why|the|this|that|it)\w+|studied
            |graduated (?:from|in|with)|majored in|went to (?:school|university|college)
            |take (?:[\w-]+ ){1,3}(?:for|against) (?:my|high|low) (?!own|part|job|next|new)\w+|suffer from|go by|goes by
            |plays? the \w+|joined (?:a|an|the|my) (?:\w+ )?(?:choir|club
            |gym|band|class|group|league|orchestra|church|association|union))\b""",
        ),
        (
            "work",
            rf"""{_NEG}(?:work|works|worked|working) (?:at|for|as|from home|remotely|part[- ]time
            |full[- ]time|night|in (?!progress|the (?:same|meantime)|this|that)|with (?!it|this|that
            |you|me))""",
        ),
        (
            "work",
            r"""(?:got |was |been )?(?:promoted|hired|laid off|fired)\b|(?:joined|joining|started|start
            |starting|left|leaving|quit|resigned|switched|changed|accepted
            |handed in)\b(?:(?=.*\b(?:job|offer|jobs|notice)\b)| (?:at|as) (?!the (?:moment|end
            |beginning|top)|home|once|it|this|least|that)\w)""",
        ),
        (
            "work",
            rf"""(?:am |is |was |became |as |[a-z]+, )?(?:an? |the )(?:[\w-]+ ){{0,4}}{_JOB}\b(?! of (?:this
            |that))""",
        ),
        (
            "work",
            r"""(?:lead|leads|manage|manages|report to|reports to|am responsible for|responsible for
            |in charge of|run (?:a|an|my own)|on the [\w-]+ team|freelance|self-employed|unemployed
            |between jobs|on[- ]call|on (?:parental|maternity|paternity|sick) leave
            |(?:have |got )?a (?:\w+ )?client|(?:quit|left) \w+ (?:and|to) join(?:ed)?
            |own (?:an? |my own )(?:[\w-]+ ){0,3}
            (?:shop|store|company|business|restaurant|caf[eé]|bakery|bar|farm|studio|agency|salon|gym|startup
            |hotel|garage|pharmacy))\b""",
        ),
        (
            "goal",
            r"""(?:want|wants|hope|hopes|aim|aims|plan|plans|planning|would like|dream of|dreams of|trying
            |intend|intends|hoping|aiming
            |determined) (?:to )?(?:eventually |finally |someday )?(?:learn|learning|become|becoming
            |run (?:a|my|the)|running a|save|lose|losing|buy (?:a|an|my|our)|start (?:a|my|an)
            |get (?:better|fit|certified|into|my|rid of)|retire|speak|quit|stop (?:smoking|drinking)
            |read \w+ books|move to|travel|visit|apply for|publish|launch|open a|write a (?:book|novel
            |thesis)|finish (?:my|the) (?:book|degree|thesis|novel)|earn|reach|qualify|pass (?:the|my)
            |grow|cut down|improve my|reduce|hit|double|ship|switch (?:to|from)|migrate|replace)\b""",
        ),
        (
            "goal",
            r"""(?:training|saving(?: up)?|studying|preparing|practi[sc]ing) (?:for|to) (?!it|this|that)
            |(?:am |are |been )?(?:learning|teaching myself) (?!how|that|a lot|about (?:it|this)|it\b
            |this|more)\w|(?:signed up|registered) for (?:a|an|the|my)""",
        ),
        (
            "preference",
            rf"""{_NEG}(?:prefer|prefers|preferred|like|likes|love|loves|enjoy|enjoys|hate|hates|dislike
            |dislikes|adore|adores|detest|favou?r|favou?rs|can not stand|cannot stand|stand|fan of
            |a (?:big |huge )?fan of|fond of|into|obsessed with|would prefer|would rather
            |would always rather|tend to|swear by|swears by|avoid|avoids|mind)\b{_OBJ} \S""",
        ),
        (
            "preference",
            rf"""(?:do not|does not|never|no longer|can not|can only|only|stopped|quit|gave up|cut out
            |not) (?:ever |really )?(?:eat|drink|smoke|eating|drinking|smoking|consume|use|watch|take
            |wear|want|work|schedule|answer|do|buy|read|fly|drive|listen
            |tolerate)s?\b{_OBJ}(?! (?:know|need|have|to|any more|anymore|of)\b) \S""",
        ),
        (
            "preference",
            r"""(?:(?:eat|eats|drink|drinks|take|takes|wear|wears|listen to|listens to|read|reads|get up
            |wake up|go (?:running|swimming|climbing|cycling|to the gym|for a run)|run|runs|swim|swims
            |cycle|commute|meditate|practi[sc]e|cook|cooks|train|trains)\b.*\b(?:every|each|daily
            |usually|always|in the (?:morning|evening|mornings|evenings)|before|after|on \w+days|twice
            |times a|weekends?)\b|(?:get up|wake up|go to bed|have (?:breakfast|lunch|dinner)) (?:at|around|by) \d
            |use \w+,? not \w+)""",
        ),
        (
            "preference",
            r"""(?<!am )(?<!is )(?<!are )(?<!was )always (?!be\b|been|have|had|has|felt|here|there|wanted
            |known|thought|happy|a\b|the\b|to\b|on\b|in\b|so\b)\w+ (?!it\b|this\b|that\b|to be|for you
            |to you|forward)\S|(?:never|usually|normally|mostly|rarely) (?!be\b|been|have|had|has|seen
            |thought|know|knew|think|happy|get\b|a\b|the\b|trust|forget|want(?:ed)? to|written|used
            |done|tried|worked|heard|look)\w+ (?!it\b|this\b|that\b)\S""",
        ),
        (
            "fact",
            r"(?:pay|pays|paid|earn|earns|charge|charges|spend|weigh) (?=.*\d)(?!attention)\S",
        ),
        (
            "work",
            r"""(?:have|has|hold|do) (?:an? |our |the )?(?:[\w-]+ )?(?:meeting|stand-?up|call|sync|review|retro\w*
            |release
            |one-on-one|shift|sprint|planning|class|lesson|training|rehearsal|practice)s? (?:at [\d:]+ )?
            (?:every|each|on \w+days)\b""",
        ),
        (
            "project",
            r"""(?:working on|building|developing|designing|organi[sz]ing|renovating|migrating|rewriting
            |launching|porting|redesigning|co-?writing|writing (?:a|my)) (?:an?|the|our|my
            |[a-z]?[\w-]+)\b(?! (?:bug|error|issue|ticket|moment|same|question|one|it|function|method
            |test|line|reply|new)\b)(?<!\bit)(?<!\bthis)(?<!\bthat)(?<!something)(?<!some)(?<!up)""",
        ),
        (
            "technical",
            rf"""{_NEG}(?:use|uses|using|run|runs|running|deploy|deploys|host|hosts|self-host|develop|code
            |codes|program|programs|write|writes|build|builds|switched|switching|migrated|migrating
            |upgraded|moved|installed|store|stores|keep|keeps|configured|standardi[sz]ed|poll|polls
            |log|back up|sync|serve|ship|release|track|test|lint|format|raised|lowered|increased|cut
            |changed|renamed|replaced|dropped|extended|on (?:python|node|java|go|rust|windows|macos
            |linux|ubuntu|debian|fedora|arch|postgres\w*|django|react|version|v\d))\b{_OBJ}""",
        ),
    )
)
_PERSON_STATES = tuple(
    Words(_ADV + pattern)
    for pattern in (
        rf"""(?:(?:does not|did not|can not|will not) (?:really |even )?(?:prefer|like|love|enjoy|eat|drink
        |smoke|drive|want|need|work|use)|(?:no longer |never )?(?:prefers|likes|loves|enjoys|hates
        |dislikes|adores|detests|avoids|wants|needs|favou?rs|insists on|collects|plays|eats|drinks
        |smokes|drives)|only \w+s)\b{_OBJ} \S""",
        rf"""{_NEG}(?:works|worked|lives|lived|moved|speaks|studies|studied|teaches|runs|manages|leads|owns
        |handles|covers|replaces|joined|joins|left|started|starts|graduated|retired|maintains|reports
        |belongs|takes (?:over|care))\b (?:at|in|for|as|from|on|to|the|with|a|an|our|my|both|up|near
        |only|[a-z]+ly|[a-z]+\b)(?! (?:fine|well|great|now|again|it|out|like)\b)""",
        r"""(?:is|was|are|becomes|became|turns|turned
        |will be) (?:not |also |now |only |still |getting )*(?:(?:called|named|an?|our|my|in charge
        |on (?:vacation|leave|holiday|call|parental|maternity)|based|responsible|allergic|vegetarian
        |vegan|(?:getting )?married|engaged|pregnant|retired|born|from (?!now)|\d{1,3}(?! ?(?:minutes
        |min|hours|%|\w+ late))|moving to|expecting|studying|(?:also )?known as|left-handed
        |the (?:\w+ )?(?:lead|head|owner|manager|boss|ceo|cto|contact|maintainer|author|designer
        |one who))\b(?! (?:bit|mess|pain|genius|idiot|best|good|great|nightmare|angel|lot|same|little
        |huge|real|true|bad|big)\b))""",
        rf"""{_NEG}(?:has|have) (?:an?|one|two|three|four|no|\d+|another
        |severe) ?(?:[\w-]+ ){{0,3}}(?:kids?|child(?:ren)?|sons?|daughters?|cats?|dogs?|allerg(?:y
        |ies)|asthma|diabetes|brother|sister|car|house|apartment|key|keys|access)\b""",
    )
)
_PERSON_ANY = Words(
    r"""(?:now |also |only |still |always |never |usually )*(?!(?:is|was|has|does|says|seems|looks|sounds
    |makes|gets|means|needs|thinks|lets|feels|hopes|helps|this|its|as|always|yes)\b)[a-z]{3,}s \S"""
)
_FLEETING = r"""(?:failing|broken|down|red|slow|stuck|running (?:now|again|fine)|green|done|ready|great|good|nice
    |fine|bad|wrong|weird|a (?:mess|bit|lot)|so|very|too|it|this|that|still|again|getting|looking|back
    |up again|ok|okay|interesting|amazing|awesome|perfect|helpful|confusing|what|why|how|where
    |to (?:make|help|ensure)|important|really|just|not (?:working|ready|sure)|working|like|as follows)"""
_OWNED_STATES = Words(rf"""{_ADV}{_NEG}(?:is|are|was|falls|lives|works|has|starts|ends|takes|gets)[ ]
    (?!(?:{_FLEETING}|right
    |here|late|not (?:here|ready))\b)\S""")
_THING_STATES = Words(
    rf"""{_ADV}{_NEG}(?!(?:will|had|were|got|went|can|do|does)\b)(?:{VERB}|was (?:moved|changed|raised|cut
    |renamed|migrated|replaced|set))\b(?! {_FLEETING}\b)(?! \w+ing (?:to|with|a)\b)"""
)
_BAD_MY = Words(
    r"""my (?:\w+ )?(?:question|problem|issue|point|guess|concern|understanding|idea|current|error
    |function|input|output|query|thought|worry|main|only|first|hope|opinion|feeling|fear
    |implementation|approach|route|class)\b"""
)
_MY_FAVOURITE = Words(
    r"my (?:[\w-]+ )?(?:favou?rite|preferred|go-to|default|usual) (?:[\w-]+ ){1,5}(?:is|are) "
)
_MY_SELF = Words(
    r"""my (?:full |first |last |middle |real |nick)?(?:name|birthday|email|e-mail|phone|number|address
    |time ?zone|blood type|shoe size|hometown|pronouns|age|home \w+|native language|mother tongue
    |star sign|height|weight|github|handle|username|passport|shirt size|anniversary|locker
    |(?:parking )?spot)\b"""
)
_MY_WORK = Words(
    r"""my (?:new |current |old )?(?:job|title|role|employer|company|position|salary|office|work ?(?:hours
    |day|week|phone|email)|shift|commute|notice period|contract|desk|day rate|hourly rate|rate)\b"""
)
_MY_GOAL = Words(
    r"""(?:my|our) (?:(?:main|big|next|long-term|short-term|new|only) )?(?:goal|dream|aim|plan|resolution
    |target|ambition) (?:for [\w ]{2,30} |this \w+ )?(?:is|are) (?!not sure)"""
)
NEED_CONCRETE = frozenset(("technical",))
_TOOLS = Words(
    rf"""{_ADV}(?:use|using|run) ([\w.+#-]{{2,}}(?:,? (?:and )?[\w.+#-]{{2,}}){{0,4}}?)
    (?: (?:for|at|on) [\w -]{{2,30}})?[.!]*$"""
)
_NO_TOOLS = frozenset(
    """both everything nothing something anything one two caution force common sense humour humor late early errands
    marathons out fast tests first last new old same different other method function option""".split()
)
GRAVE = Words(r"""\b(?:allerg\w+|diabet\w+|c(?:o)?eliac|asthma|epilep\w+|intoleran\w+|pregnant|emergency|never
    |always)\b""")


def state_of(rest: str, kind: str) -> str | None:
    """Return the category of a lasting statement of a person by its predicate, with which `rest` begins, or None."""
    if kind in {"self", "group"}:
        return next((category for category, pattern in _SELF_STATES if pattern.match(rest)), None)
    if kind == "person":
        return "fact" if any(pattern.match(rest) for pattern in _PERSON_STATES) else None
    if kind == "owned":
        return "fact" if _OWNED_STATES.match(rest) else None
    return None


def tools(rest: str) -> bool:
    """Say whether a predicate is complete with the names of what is used: "use neovim and tmux"."""
    named = _TOOLS.match(rest)
    return named is not None and not (
        {word.strip(",.!") for word in named[1].split()} - {"and"} & (ENGLISH | _NO_TOOLS)
    )


def acts(rest: str, about: str) -> bool:
    """Say whether a predicate tells what a named person or company does, or which name "my manager" has."""
    if about[:1].islower():
        return _OWNED_STATES.match(rest) is not None
    return _PERSON_ANY.match(rest) is not None


def thing_of(low: str, end: int) -> str | None:
    """Return the category of a statement about a thing, whose predicate begins at `end`, or None."""
    rest = low[end:]
    if low.startswith(("my ", "our ")):
        if _BAD_MY.match(low):
            return None
        kinds = (
            ("preference", _MY_FAVOURITE),
            ("personal", _MY_SELF),
            ("work", _MY_WORK),
            ("goal", _MY_GOAL),
        )
        for category, pattern in kinds:
            if pattern.match(low):
                return category if category in {"goal", "preference"} or _THING_STATES.match(rest) else None
    if not _THING_STATES.match(rest):
        return None
    return "technical" if TECH.search(low[:end]) else "project" if PROJECT.search(low[:end]) else "fact"
