"""The words the near-repeat guard knows in English: which mean the same, which turn a statement, which say nothing.

Owns the tables; promises that two words share a form only if a statement keeps its meaning when one stands for the
other; never decides anything about two texts.

The kinds: `drop` says nothing, `now` marks a change weakly, `change` and `correction` mark one, the others turn
a statement and are compared like numbers are: `negation`, `modality`, `tense`, `quantity`, `relation`, `person`.
"""

from __future__ import annotations

Lexicon = dict[str, tuple[str, str]]


def _table(**kinds: str) -> Lexicon:
    """Read `form=alternative,alternative` lists into a table from phrase to form and kind."""
    table: Lexicon = {}
    for kind, text in kinds.items():
        for item in text.replace("\n", ";").split(";"):
            form, _, others = item.strip().partition("=")
            for phrase in (form, *others.split(",")):
                if phrase.strip():
                    table[phrase.strip()] = (form.strip(), kind)
    return table


ENGLISH: Lexicon = _table(
    drop="""a;an;the;this;these;is;are;am;be;been;being;do;does;that;which;really;very;quite;truly;simply;still
        already;of;and;so;then;there;please;also known as;is called;is named;whose name is;goes by;absolutely
        definitely;certainly;especially;particularly;personally;it""",
    now="""now;currently;these days;nowadays;at the moment;at present;presently;as of now;from now on;right now
        as of today""",
    change="""anymore=any more,any longer;instead;instead of
        switch to=switched to,switches to,switching to,has switched to;switch from=switched from
        change to=changed to;change from=changed from;move to=moved to,has moved to,relocated to
        move from=moved from;move back to=moved back to;migrate to=migrated to;migrate from=migrated from
        replace=replaced,replaces;swap=swapped;upgrade to=upgraded to;downgrade to=downgraded to
        become=became,has become;join=joined,has joined;leave=left,has left;resign from=resigned from
        start at=started at,started working at,began at,began working at
        reschedule to=rescheduled to,postponed to,pushed to,pushed back to,brought forward to,extended to
        raise to=raised to,increased to,went up to,grew to;cut to=reduced to,lowered to,dropped to,went down to
        rename to=renamed to;turn=turned;get promoted to=promoted to,was promoted to,got promoted to""",
    correction="""actually=in fact,as a matter of fact,after all;correction;misspoke=i misspoke,misspoken
        i meant=meant to say;wrong=got it wrong,was wrong,mistaken,was mistaken;sorry;rather than;contrary to
        not true""",
    negation="""not=n't,cannot;never;no;none;nobody=no one;nothing;nowhere;neither;nor;without
        hardly=barely,scarcely;not no longer=no longer;except=except for,apart from;unless;lack=lacks
        avoid=avoids;refuse=refuses,refused;fail=fails,failed;unable""",
    modality="""may=might,maybe,perhaps,possibly;could;would;should=ought to
        must=have to,has to,needs to,need to;will=going to,is going to,shall,'ll;can=able to,is able to
        want=wants,wanted,would like,would like to,wishes;plan=plans,planned,planning,intends,intend
        hope=hopes,hoped,hoping;consider=considers,considering,considered;if=whether,in case
        try=tries,tried,trying;think=thinks,thought,believes;guess=guesses;seem=seems,apparently;about to
        almost=nearly;probably=likely,presumably;dream of=dreams of;wonder=wonders,wondering;suppose=supposed to
        claim=claims,claimed,says,said,allegedly;pretend=pretends,pretended;promise=promises,promised;?""",
    tense="""was=were,had been;had;did;used to;formerly=previously,in the past,once;ago;has been=have been
        not yet=yet;last;next;former=ex,previous;future;recently=just;again;until recently;new;old""",
    quantity="""only=solely,exclusively;all;every=each;some=a few,several,a couple of,a bit of
        many=a lot of,lots of,much;most=mostly,mainly;few=little;both;either;half;another=other,additional
        more=more than,over;less=less than,fewer;at least;at most=up to,no more than
        around=about,approximately,roughly,circa;exactly=precisely;always;sometimes=occasionally,at times
        often=frequently;rarely=seldom;usually=normally,generally,typically;too=as well,also;any;double=twice
        single;first;second;third;several times""",
    relation="""in;at;on;for;by;with;to;from;into;out=out of;off;up;down;before;after;under;between;against
        near=close to;behind;through;via;until;since;during;while;because;but;or;than;as;per;unlike;inside
        outside;above;below;within;across;around the;when;where;who;over;toward=towards""",
    unit="year=years old,year old,years of age",
    person="""user=i,me,my,mine,myself,the user;he=him;she;they=them;we=us,our,ours;you=your,yours;his;her=hers
        their=theirs;its""",
)
"""Phrases of up to three words, in lower case, to their form and kind."""

SAME_WORDS = {
    word: group.split()[0]
    for group in (
        "like love enjoy prefer fancy adore",
        "dislike hate detest loathe",
        "live reside dwell",
        "big large",
        "small little tiny",
        "car automobile",
        "phone telephone cellphone smartphone",
        "child kid children kids",
        "mother mom mum mommy",
        "father dad daddy",
        "film movie",
        "flat apartment",
        "holiday vacation",
        "doctor physician",
        "use utilize utilise",
        "buy purchase",
        "begin start commence",
        "bike bicycle",
        "photo picture photograph",
        "quick fast rapid",
        "repo repository",
        "db database",
        "app application",
        "docs documentation",
        "config configuration",
        "js javascript",
        "ts typescript",
        "postgres postgresql",
        "k8s kubernetes",
        "prod production",
        "tv television",
        "favorite favourite",
        "color colour",
        "center centre",
        "organize organise",
        "theater theatre",
        "job position",
        "ill sick",
        "happy glad",
        "happen occur",
        "help assist",
        "need require",
        "nyc newyork",
        "daily everyday",
    )
    for word in group.split()
}

IRREGULAR_PAST = dict(
    pair.split("/")
    for pair in """bought/buy went/go gone/go got/get gotten/get took/take taken/take made/make ate/eat
        eaten/eat drank/drink drunk/drink ran/run saw/see seen/see came/come gave/give given/give found/find
        told/tell knew/know known/know felt/feel kept/keep wrote/write written/write spoke/speak spoken/speak
        chose/choose chosen/choose broke/break broken/break met/meet paid/pay sold/sell sent/send built/build
        lost/lose won/win taught/teach caught/catch brought/bring slept/sleep spent/spend stood/stand
        understood/understand held/hold heard/hear grew/grow grown/grow drove/drive driven/drive flew/fly
        flown/fly swam/swim sang/sing wore/wear worn/wear rode/ride ridden/ride fell/fall fallen/fall
        forgot/forget forgotten/forget began/begin begun/begin hid/hide hidden/hide shot/shoot learnt/learn
        ran/run led/lead lent/lend""".split()
)

IRREGULAR_PLURALS = dict(
    pair.split("/")
    for pair in """people/person men/man women/woman feet/foot teeth/tooth mice/mouse wives/wife knives/knife
        lives/live leaves/leaf shelves/shelf geese/goose children/child kids/child movies/movie cookies/cookie
        ties/tie pies/pie""".split()
)

STATES = frozenset(
    """based married interested located scheduled planned retired allergic experienced used need bed red indeed
    speed feed seed breed naked wicked hundred kindred sacred shed wed embed exceed proceed succeed united
    shared fixed limited advanced divorced engaged born due tired excited colored red-haired certified""".split()
)
"""Words in -ed that name a state or no verb at all, so that they say nothing about the past."""

NOT_PLURAL = frozenset(
    """news series species always perhaps does was is has his its this us yes bus gas plus lens physics
    mathematics politics economics athletics gymnastics analytics graphics mars paris texas james charles thomas
    chris js k8s os ios macos windows kubernetes jenkins redis postgres tennis bus status focus virus campus
    bonus basis analysis""".split()
)

OPPOSED = frozenset(
    frozenset(pair.split("/"))
    for pair in """like/dislike on/off enable/disable enabled/disabled open/close open/closed true/false
        allow/forbid allowed/forbidden allow/forbidden always/never accept/reject approve/reject
        approved/rejected before/after married/divorced married/single public/private require/optional
        required/optional alive/dead present/absent win/lose pass/fail succeed/fail possible/impossible
        happy/unhappy agree/disagree include/exclude active/inactive available/unavailable mandatory/optional
        legal/illegal safe/unsafe vegetarian/carnivore more/less maximum/minimum cheap/expensive yes/no
        can/cannot trust/distrust with/without all/none everybody/nobody employed/unemployed healthy/ill""".split()
)
"""Words that cannot both hold of the same thing."""

CONTRASTED = OPPOSED | frozenset(
    frozenset(pair.split("/"))
    for pair in """start/stop begin/end buy/sell increase/decrease first/last morning/evening left/right up/down
        in/out hot/cold early/late import/export upload/download add/remove push/pull lend/borrow tea/coffee
        cat/dog north/south east/west push/pull day/night summer/winter husband/wife brother/sister
        mother/father son/daughter high/low old/new young/old long/short""".split()
)
"""Words that only stand on different sides; both may hold."""

VERBS = frozenset(
    """like dislike live work use buy begin need want have make take go get see know think say tell eat drink
    run read write speak study learn teach play own keep prefer manage lead build plan meet call pay sell send
    visit travel drive fly ride cook sleep wear watch listen start stop finish move join leave switch change
    become grow help support ship deploy test run cost weigh earn save spend host serve store include contain
    depend require expire renew open close allow block fail pass report attend celebrate own hold handle review
    approve sign train practice practise collect love hate enjoy suffer struggle avoid trust follow share design
    develop maintain migrate install configure graduate marry divorce adopt rent borrow lend donate volunteer
    paint sing dance swim hike climb ski wake arrive depart turn""".split()
)

AMBIGUOUS_NAMES = frozenset(
    """apple polish may march august turkey china java python go rust swift ruby amazon windows target gap visa
    bill mark jack rose will grace hope joy orange shell subway oracle delta mint bear us it slack teams word
    excel sage square stripe notion linear spark ray dart julia basic queen prince genesis kiss oasis muse
    chrome edge safari ford jaguar cricket corona nice reading cork""".split()
)
"""Names that are also words: written in capitals or not, they mean different things."""

UNITS = {
    word: group.split()[0]
    for group in (
        "km kilometer kilometre kilometers kilometres kms",
        "mile miles mi",
        "m meter metre meters metres",
        "cm centimeter centimeters centimetre centimetres",
        "mm millimeter millimeters",
        "ft foot feet",
        "inch inches",
        "kg kilo kilos kilogram kilograms kgs",
        "g gram grams",
        "lb lbs pound pounds",
        "l liter litre liters litres",
        "ml milliliter milliliters",
        "hour hours hr hrs h",
        "minute minutes min mins",
        "second seconds sec secs",
        "day days",
        "week weeks",
        "month months",
        "year years yr yrs",
        "euro euros eur €",
        "dollar dollars usd $",
        "yuan rmb cny ¥ 元 块 块钱 人民币",
        "gbp £",
        "percent % pct",
        "degree degrees °",
        "kb",
        "mb",
        "gb",
        "tb",
        "ms",
    )
    for word in group.split()
}

NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""".split()
    )
} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
    "dozen": "12",
}

MONTHS = {
    name: number
    for number, names in enumerate(
        """january,jan february,feb march,mar april,apr may june,jun july,jul august,aug september,sep,sept
        october,oct november,nov december,dec""".split(),
        start=1,
    )
    for name in names.split(",")
}
DAY_WORDS = frozenset(
    """today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday mondays
    tuesdays wednesdays thursdays fridays saturdays sundays weekday weekdays weekend weekends morning mornings
    afternoon evening evenings noon midnight night nights spring summer autumn fall winter day week month year
    daily weekly monthly yearly annually quarter christmas easter""".split()
)

SAME_PAST = frozenset("read put cut set hit let cost hurt shut quit spread bet split beat".split())
"""Verbs whose past is written like their present, so that only the -s of the present tells them apart."""
