"""Words that search takes for one: irregular forms, spellings, and everyday names of the same thing.

Owns what no stemmer's rules can bring together; promises that a form stands under one word only, and that a form
which is as often a word of its own ("rose", "ground", "bit") stands under none; never changes a stored text, nor what
counts as the same statement: these are for finding alone.
"""

from __future__ import annotations

from typing import Final

_IRREGULAR: Final = """
become: became; begin: began begun; bend: bent; blow: blew blown; break: broke broken; breed: bred; bring: brought
build: built; burn: burnt; buy: bought; catch: caught; choose: chose chosen; come: came; creep: crept; deal: dealt
dig: dug; draw: drew drawn; dream: dreamt; drink: drank drunk; drive: drove driven; eat: ate eaten; fall: fell fallen
feed: fed; feel: felt; fight: fought; find: found; flee: fled; fly: flew flown; forget: forgot forgotten
forgive: forgave forgiven; freeze: froze frozen; get: got gotten; give: gave given; go: went gone; grow: grew grown
hang: hung; hear: heard; hide: hid hidden; hold: held; keep: kept; know: knew known; learn: learnt; leave: left
lend: lent; lose: lost; make: made; mean: meant; meet: met; mistake: mistook mistaken; overcome: overcame; pay: paid
ride: rode ridden; ring: rang rung; rise: risen; run: ran; say: said; see: saw seen; seek: sought; sell: sold
send: sent; sew: sewn; shake: shook shaken; shoot: shot; show: shown; sing: sang sung; sit: sat; sleep: slept
slide: slid; smell: smelt; speak: spoke spoken; spell: spelt; spend: spent; stand: stood; steal: stole stolen
stick: stuck; strike: struck; swear: swore sworn; sweep: swept; swim: swam swum; take: took taken; teach: taught
tear: tore torn; tell: told; think: thought; throw: threw thrown; undergo: underwent undergone
understand: understood; wake: woke woken; wear: wore worn; weep: wept; win: won; withdraw: withdrew withdrawn
write: wrote written
good: better best; bad: worse worst; far: further farther
child: children; foot: feet; goose: geese; half: halves; knife: knives; life: lives; loaf: loaves; man: men
mouse: mice; person: people; shelf: shelves; thief: thieves; tooth: teeth; wife: wives; wolf: wolves; woman: women
"""

_SPELLINGS: Final = """
aluminum: aluminium; analyze: analyse; apologize: apologise; behavior: behaviour; catalog: catalogue; center: centre
color: colour; cozy: cosy; defense: defence; dialog: dialogue; donut: doughnut; favor: favour; favorite: favourite
flavor: flavour; gray: grey; harbor: harbour; honor: honour; humor: humour; jewelry: jewellery; labor: labour
license: licence; liter: litre; math: maths; memorize: memorise; meter: metre; mold: mould; neighbor: neighbour
organize: organise; organization: organisation; pajamas: pyjamas; prioritize: prioritise; program: programme
realize: realise; recognize: recognise; rumor: rumour; specialize: specialise; summarize: summarise
theater: theatre; tire: tyre
"""

_NAMES: Final = """
allergy: allergic; bicycle: bike; child: kid kiddo; daddy: father dad; examination: exam; film: movie
grandma: grandmother granny; grandpa: grandfather granddad; mom: mother mum mommy; phone: telephone smartphone
photo: photograph pic picture; refrigerator: fridge; television: tv telly
"""


def pairs() -> list[tuple[str, str]]:
    """Return each form with the word it stands under."""
    found = []
    for line in f"{_IRREGULAR}{_SPELLINGS}{_NAMES}".replace(";", "\n").splitlines():
        word, _, forms = line.partition(":")
        found += [(form, word.strip()) for form in forms.split()]
    return found
