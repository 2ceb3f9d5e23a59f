"""The English words for of whom or what a clause speaks.

Owns the patterns of a subject and its reading. Never looks at what is said of it, but for where the verb begins.
"""

from __future__ import annotations

import msgspec

from reverie.core.text.patterns import Words
from reverie.core.text.stopwords import ENGLISH

TECH = Words(
    r"""\b(?:api|servers?|databases?|db|repo|repository|services?|cluster|back-?end|front-?end|app
    |application|website|site|pipeline|ci|builds?|deploy\w*|staging|production|prod|tests?|suite
    |config\w*|cache|queue|endpoint|port|branch|schema|tables?|scripts?|cron\w*|containers?|images?
    |backups?|bucket|domain|dns|certificates?|version|releases?|library|framework|package|module
    |editor|terminal|shell|laptop|machine|nas|router|wi-?fi|stack|codebase|monorepo|logs?|dashboard
    |webhook|migrations?|lint\w*|formatter|timeout|limit|path|folder|directory|environment|vpn|vm
    |gateway|proxy|model|dataset|index|worker|jobs?|scheduler|code|runtime|tool\w*|setup|bot|cli
    |parser|sdk|ui|firmware|docs|alert|`[^`]+`) $"""
)
PROJECT = Words(
    r"""\b(?:project|budget|deadline|launch|sprint|client|customer|milestone|contract|roadmap|scope
    |proposal|kick-?off|demo|campaign|pilot|tender)\b"""
)
KIN = r"""(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|spouse|son|daughter|kids?|child(?:ren)?
    |baby|mother|mom|mum|father|dad|parents|(?:\w+ )?brother|(?:\w+ )?sister|siblings?|twins?|cousin
    |aunt|uncle|niece|nephew|grand(?:ma|mother|pa|father|son|daughter|parents)|(?:mother|father
    |brother|sister)-in-law|in-laws|family|(?:best |old |good |close )?friends?|neighbou?rs?|roommate
    |flatmate|landlord|landlady|boss|manager|colleagues?|co-?workers?|teammates?|mentor|doctor|dentist
    |therapist|trainer|coach|tutor|teacher|accountant|lawyer|dog|cat|puppy|kitten|parrot|rabbit
    |hamster|horse|client|customer|supervisor|advisor|professor|team ?lead|lead|ceo|cto|intern
    |assistant|nanny|babysitter|(?:co-?|other )?maintainer|business partner|contact|vet)"""
_NOT_NAMES = frozenset(
    r"""i it this that these those they he she we you there here the a an my our your his her their its
    what who how why when where which if then so and but or not no yes maybe every everyone everybody
    someone somebody nobody anyone people users customers some many most all both each another other
    one two three first second next last monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december today
    tomorrow yesterday please thanks thank hello hi hey ok okay sure great good nice also just still
    now well oh let lets remember note always never from after before since because while during can
    could should would will do does did is are was were have has had be been am for with without in on
    at to by of about as than too very really actually sounds looks feels nothing something everything
    anything time life work home god christmas easter summer winter spring autumn three four five six
    seven eight nine ten half unfortunately luckily apparently part step here's""".split()
)
VERB = r"""(?:is|are|was|were|has|have|had|runs?|lives?|uses?|needs?|requires?|expects?|listens?|points?
    |stores?|takes?|costs?|supports?|must|will|starts?|ends?|begins?|opens?|closes?|leaves|departs
    |arrives|lands|happens|ships|goes|deploys|connects|reads|writes|talks|sits|got|gets|moves?|moved
    |now|still|only|no longer|depends|belongs|comes|works|defaults|expires|renews|chats|meets|sends
    |polls|checks|keeps|holds|returns|covers|pays|wants|crashed|failed|broke|went|does|do|can|accepts
    |serves|builds|lists|weighs|measures|contains|sleeps|eats)"""
_FRONT = Words(
    r"""(?:(?:after|before|in|on|at|during|for|by|since|these|from|until|as of|every|most|once|with|this
    |last|next|yesterday|today|tomorrow|tonight|nowadays|currently|recently|earlier|later|apparently
    |sadly|luckily|fortunately|unfortunately)\b[\w'’.:/ -]{0,40}?)(?:,? (?=(?:I|we|my
    |our)(?: |['’]))|, (?=(?:the |`\w+`)))""",
    fold=True,
)
_FIRST = Words(r"[A-Za-z]+(?![^\W_]|\d)")
_FRONT_WORDS = frozenset(  # with which `_FRONT` begins
    r"""after before in on at during for by since these from until as every most once with this last next
    yesterday today tomorrow tonight nowadays currently recently earlier later apparently sadly luckily
    fortunately unfortunately""".split()
)
_SELF = Words(r"(?:I|i)\b,?\s*")
_GROUP = Words(
    r"""(?:[Ww]e|(?:[Mm]y|[Tt]he|[Oo]ur) (?:team|company|squad|group) and I|[Mm]y (?:wife|husband|partner
    |girlfriend|boyfriend) and I|[A-Z][a-z]+ and I)\b\s*"""
)
_RELATION = Words(
    rf"""(?P<who>(?:[Mm]y|[Oo]ur|[A-Z][a-zà-ÿ]+['’]s?|User['’]s) {KIN})(?:(?P<name>,? (?:(?:Mr|Mrs|Ms
    |Dr)\.? )?[A-Z][\w-]+)(?:,(?= ))?)?(?:,? (?:from|at|in) (?:[A-Z][\w&-]+ ?){{1,3}})?,? """
)
_KIN_OWNS = Words(
    rf"(?P<who>(?:[Mm]y|[Oo]ur) {KIN})(?P<name> [A-Z][\w-]+)?['’]s? (?:[\w-]+ ){{1,4}}?(?={VERB}\b)"
)
_PERSON = Words(
    r"""(?P<name>(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-Z][a-zà-ÿ]+(?:[- ][A-Z][a-zà-ÿ]+)?)(?:,? (?:from|at|of
    |in) (?:the )?[\w&-]+(?: [A-Z][\w&-]+)*(?: team)?,?|,? (?:my|our|the) [\w -]{2,30},
    | \([^()]{1,40}\))? """
)
_THING = Words(
    rf"""(?P<first>the|our|my|project|`[^`]{{1,60}}`|[\w.+-]+)(?: |(?=['’])
    |(?<=`))(?:[\w'’`./&#+-]+ ){{0,7}}?(?={VERB}\b)""",
    fold=True,
)
_POSSESSED = Words(rf"(?P<name>[A-Z][a-zà-ÿ]+)['’]s? (?:[\w-]+ ){{1,4}}?(?={VERB}\b)")
APPOSED = Words(
    rf"""(?P<name>\b[A-Z][a-zà-ÿ]+), (?P<whose>my|our) (?P<what>(?:[\w-]+ )?{KIN})\b|\b(?P<whose2>my
    |our) (?P<what2>(?:[\w-]+ )?{KIN}),? (?P<name2>[A-Z][a-zà-ÿ]+)\b"""
)

KIN_NAMED = Words(rf"\b{KIN},? (?P<name>[A-Z][a-zà-ÿ]+)\b")


class Subject(msgspec.Struct, frozen=True):
    """Of whom a clause speaks: `kind` decides which predicates count, `end` is where the predicate begins."""

    kind: str
    about: str
    end: int


def subject(full: str) -> Subject | None:
    """Return the subject of an expanded clause, behind a time or place at most; None when none can be told."""
    at = behind_front(full)
    if (match := _GROUP.match(full, at)) is not None:
        return Subject("group", "", match.end())
    if (match := _SELF.match(full, at)) is not None:
        return Subject("self", "", match.end())
    if (match := _KIN_OWNS.match(full, at)) is not None:
        return Subject("owned", (match["name"] or match["who"].split(None, 1)[1]).strip(" ,"), match.end())
    if (match := _RELATION.match(full, at)) is not None:
        return Subject("person", (match["name"] or match["who"].split(None, 1)[1]).strip(" ,"), match.end())
    if (match := _POSSESSED.match(full, at)) is not None and match["name"].lower() not in _NOT_NAMES:
        return Subject("owned", match["name"], match.end())
    if (match := _PERSON.match(full, at)) is not None and match["name"].split()[0].lower() not in _NOT_NAMES:
        return Subject("person", match["name"], match.end())
    return thing(full)


def behind_front(full: str) -> int:
    """Return where a clause goes on behind a time or place at its front."""
    first = _FIRST.match(full)
    if first is not None and first[0].lower() not in _FRONT_WORDS:
        return 0
    front = _FRONT.match(full)
    return front.end() if front is not None else 0


def thing(full: str) -> Subject | None:
    """Return the thing a clause begins with, or None."""
    match = _THING.match(full, behind_front(full))
    if match is None:
        return None
    first, low = match["first"], match[0].lower()
    if first.lower() in {"the", "our", "my", "project"} or first[0] == "`":
        return Subject("thing", "", match.end())
    named = (
        first.islower()
        and len(low.split()) == 1
        and first not in ENGLISH
        and not first.endswith(("ing", "ed", "ly"))
    )
    headed = TECH.search(low) is not None or PROJECT.search(low) is not None
    if first.lower() in _NOT_NAMES or first.endswith("ing") or not (named or headed):
        return None
    return Subject("thing", "", match.end())
