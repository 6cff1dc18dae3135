"""The words that examples are made of, and how they are kept apart for fresh prompts.

Of every pool each fourth entry is left to fresh prompts, so a model that is tested on
those has never seen the names in training on the same kind of task (a few words are in two
pools, and then it may know them from another). For training each pool is filled up with
coined words, several for each real one: a model that meets the same two hundred names all
the time learns those names by heart, one that never knows what comes next learns to copy.
"""

from __future__ import annotations

import keyword
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from random import Random
from typing import TypeVar

TRAIN, FRESH = "train", "fresh"
SPLITS = (TRAIN, FRESH)
_EVERY = 4

Entry = TypeVar("Entry")


def _list(text: str) -> list[str]:
    return text.split()


# Words that the embedded model's tokenizer takes apart even behind a space. A model that has
# never met such a word misspells it sooner or later when it copies it a dozen times, so that
# no fresh prompt asks for that. Training has them, and many more: they teach copying.
_SPELLED = frozenset(
    _list(
        """
    Appleby Astrid Barley Bianca Blanket Bramble Carmen Clifton Doris Dune Foxley Gina Granite
    Hazel Hazelwood Irene Ivory Jana Kira Kirby Laurel Leah Linden Locker Magnus Megan Oakham
    Parcel Paula Petra Quentin Rowan Selby Theo Tobias Tournament Tulip Ursula Viaduct Vince
    Wharf Yacht Yasmin badger cabbages cellar crimson ferret grandma kites lilac plumber raffle
    tombola
    """
    )
)


def part(pool: Sequence[Entry], split: str) -> list[Entry]:
    """The real entries of a pool that a split may use.

    Raises ValueError for a split that is neither "train" nor "fresh".
    """
    if split not in SPLITS:
        raise ValueError(f"a split is one of {', '.join(SPLITS)}, not {split!r}")
    own = [entry for at, entry in enumerate(pool) if (at % _EVERY == 0) == (split == FRESH)]
    return own if split == TRAIN else [entry for entry in own if not _spelled(entry)]


def _spelled(entry: object) -> bool:
    return isinstance(entry, str) and not _SPELLED.isdisjoint(entry.split())


# Those that are one token behind a quotation mark as well, where no space stands before them.
_QUOTED = frozenset(
    _list(
        """
    Adam Anne Carl Clark Daniel Donald Frank Fred Jeff Josh Lily Luke Max Paul Samuel Simon Tim
    bread bus fruit fuel ink salt soup string thread water
    """
    )
)


def quoted(pool: Pool[str], split: str) -> list[str]:
    """As `mixed`; of a fresh prompt's words those that are copied easily into JSON."""
    return [word for word in mixed(pool, split) if split == TRAIN or word in _QUOTED]


def mixed(pool: Pool[Entry], split: str) -> list[Entry]:
    """The entries of a pool that a split may use, and for training the coined ones too."""
    if split != TRAIN:
        return part(pool, split)
    _coin_all()
    return [*part(pool, split), *pool.coined]


def numbers(
    rng: Random, split: str, count: int, low: int, high: int, most: int | None = None
) -> list[int]:
    """`count` numbers from low to high, adding up to at most `most`.

    No list of numbers is drawn in both splits. A checksum decides whose it is, because a
    rule of arithmetic would teach the model something about the sums.
    """
    while True:
        drawn = [rng.randint(low, high) for _ in range(count)]
        fresh = zlib.crc32(repr(drawn).encode()) % _EVERY == 0
        if fresh == (split == FRESH) and (most is None or sum(drawn) <= most):
            return drawn


class Pool(tuple[Entry, ...]):
    """Real words, and what was coined beside them."""

    coined: tuple[Entry, ...] = ()


_COINED = 5  # words coined for each real one


def _coined(real: Sequence[str], count: int, taken: Iterable[str]) -> list[str]:
    """`count` new words, each the head of one real word and the tail of another.

    Always the same for the same words; none of them is taken, or a word of Python.
    """
    rng = Random(f"coined {real[0]}")  # noqa: S311 (nothing secret)
    known = {word.lower() for word in taken}
    found: list[str] = []
    while len(found) < count:
        head, tail = rng.choice(real), rng.choice(real).lower()
        word = head[: rng.randint(2, max(2, len(head) - 2))] + tail[-rng.randint(2, 4) :]
        good = 4 <= len(word) <= 9 and word.isalpha() and not keyword.iskeyword(word)
        if good and word.lower() not in known:
            known.add(word.lower())
            found.append(word)
    return found


def _words(text: str) -> Pool[str]:
    """Single words."""
    return Pool(text.split())


def _phrases(text: str) -> Pool[str]:
    """Entries of several words, with commas between them."""
    return Pool(" ".join(phrase.split()) for phrase in text.split(","))


PEOPLE = _words(
    """
    Ada Albert Alice Amir Amy Andre Anna Arthur Astrid Aziz Basil Beth Bianca Boris Bruno Carla
    Carmen Cecil Celia Clara Colin Cora Daisy Dana Daniel Daphne Diego Dora Doris Edgar Edith
    Elena Eli Elsa Emil Emma Erik Esther Eva Farid Felix Fiona Flora Floyd Frank Freya Gemma
    George Gina Grace Greta Hana Hannah Harold Harry Hassan Hazel Heidi Helen Henry Hugo Ida
    Ines Ingrid Irene Iris Isaac Ivan Ivy Jack Jacob James Jana Jasper Jean Joan Joel John Jonas
    Judith Julia June Karen Karim Karl Kate Keith Kevin Kira Kurt Lara Laura Leah Lena Leo Leon
    Lily Linda Lisa Louis Lucas Lucy Luis Lydia Magnus Marco Maria Mark Martha Martin Mary Maya
    Megan Mia Mila Milo Miriam Mona Nadia Nancy Naomi Nell Nina Nora Norman Olga Oliver Omar
    Oscar Otto Owen Pablo Paula Pedro Penny Peter Petra Philip Piet Priya Quentin Rachel Ralph
    Raj Rebecca Rita Robert Robin Roger Rosa Rose Ruben Ruth Sally Salma Sam Sara Sasha Sean
    Selma Simon Sofia Stefan Stella Susan Sven Tara Tessa Theo Thomas Tilda Tina Tobias Tom Uma
    Una Ursula Valerie Vera Victor Vince Viola Walter Wanda Wendy Will Xenia Yara Yasmin Yusuf
    Zara Zoe
    Adam Alex Alexander Andrew Anne Ben Bill Bob Carl Charles Chris Christian Clark Dan David
    Don Donald Edward Elizabeth Emily Fred Greg Jan Jane Jeff Jim Jon Joseph Josh Ken Kim Lewis
    Luke Marie Matt Matthew Max Michael Nick Pat Paul Phil Ray Richard Samuel Sarah Scott
    Stephen Tim William
    """
)

TOWNS = _words(
    """
    Abbey Alder Amber Anchor Appleby Arden Ashford Aston Barley Barton Bayside Beacon Bedford
    Birch Blackwood Bolton Bramble Brent Bridge Brook Burton Calder Canal Castle Cedar Chapel
    Chester Clay Clifton Clover Copper Coral Corner Cotton Crane Cresson Dalton Denby Derby
    Dover Dune Eagle Easton Elm Exeter Fairfield Falcon Farley Fern Fields Forest Fountain
    Foxley Garden Gate Glen Granite Greenhill Grove Halton Harbour Harlow Hartley Haven
    Hazelwood Heath Heron Hexham Hill Holly Hurst Island Ivory Juniper Kendal Kingsley Kirby
    Lake Langley Lark Laurel Leeds Lemon Lincoln Linden Lodge Maple Market Marsh Meadow Melton
    Mill Milton Mole Moor Morley Museum Newton Norton Oak Oakham Olive Orchard Otter Oxford
    Palace Park Pebble Pine Plaza Pond Poplar Preston Quarry Quay Raven Reed Ridge Ripley River
    Rowan Rugby Salford Sandy Selby Shore Silver Spring Stanley Station Stone Sutton Swan Temple
    Thorpe Tower Tulip Union Upton Valley Viaduct Vine Walton Warren Weaver Welby Wells Weston
    Wharf Willow Windmill Woodley York
    """
)

GOODS = _words(
    """
    apples pears plums lemons oranges peaches cherries melons onions carrots potatoes beans
    cabbages peppers turnips radishes mushrooms eggs loaves cakes biscuits pies tarts buns jars
    bottles cups plates bowls spoons candles lamps baskets boxes crates sacks bags books maps
    letters stamps cards pens pencils brushes ropes nails screws bolts hinges tiles bricks
    boards shells pebbles feathers acorns chestnuts walnuts roses lilies daisies tulips seeds
    bulbs scarves hats gloves socks shirts buttons ribbons badges medals tickets posters kites
    balls
    """
)

WARES = _words(
    """
    bread cheese milk butter honey rice flour sugar salt tea coffee juice soup pasta jam oil
    yogurt cream fish ham fruit salad soap paper ink glue paint wood string wire cloth wool
    thread leather rent gas water heat light phone bus train taxi lunch dinner cinema museum
    music sport garden tools books toys shoes coats hats gifts flowers stamps repairs fuel bait
    """
)

JOBS = _words(
    """
    baker butcher carpenter chemist clerk cook dancer dentist diver doctor driver editor farmer
    fisher gardener guard guide hunter judge lawyer librarian mason mechanic miller miner nurse
    painter pilot plumber poet porter potter printer ranger roofer sailor singer smith soldier
    student surgeon tailor teacher trader vet waiter weaver welder writer
    """
)

ANIMALS = _words(
    """
    badger bear beaver bison camel cat cow crab crow deer dog dolphin donkey duck eagle falcon
    ferret finch fox frog goat goose hamster hare hawk hedgehog heron horse lion lizard llama
    magpie mole mouse otter owl panda parrot pig pigeon pony rabbit raven robin seal sheep snail
    spider squirrel swan tiger toad turtle whale wolf
    """
)

COLOURS = _words(
    """
    amber beige black blue bronze brown copper cream crimson golden green grey indigo ivory
    khaki lemon lilac lime maroon mint navy ochre olive orange peach pink plum purple red rose
    ruby rust sand scarlet silver teal turquoise violet white yellow
    wine slate coffee charcoal cherry salmon coral honey
    """
)

MEANS = ("bus", "train", "tram", "ferry", "metro", "taxi", "coach", "boat", "shuttle", "bike")

ACTS = _words(
    """
    welcome tour quiz song dance speech lecture film reading sketch poem duet raffle auction
    toast debate demo review report briefing workshop exercise game puzzle contest vote award
    juggling magic choir piano flute violin guitar fashion cooking tasting picnic parade drawing
    painting yoga stretching singalong storytelling interview panel story lottery mime banjo
    trumpet tombola pantomime bingo karaoke bonfire photo farewell break snack coffee dessert
    """
)

THINGS = _phrases(
    """
    red tent, wool blanket, camp stove, tin kettle, oil lamp, long rope, rain coat, sun hat,
    spare socks, hiking boots, water bottle, lunch box, first aid kit, paper map, pocket knife,
    folding chair, picnic rug, beach ball, swim goggles, bath towel, tooth brush, hair dryer,
    alarm clock, reading lamp, chess set, card game, guitar case, drum sticks, camera bag, phone
    charger, power bank, desk fan, glass vase, picture frame, wall mirror, coat rack, door mat,
    flower pot, garden hose, snow shovel, leaf rake, tool box, hand saw, paint roller, step
    ladder, work gloves, safety vest, bike pump, spare wheel, roof rack, dog leash, cat basket,
    bird cage, fish tank, toy train, teddy bear, story book, wool scarf, silk tie, leather belt,
    winter coat, garden chair, coffee mill, bread knife, soup pot, frying pan, salad bowl, cake
    tin, tea set, wine rack, egg timer, spice jar, rice cooker, cutting board, ice box, paper
    plates, plastic cups, cotton sheets, feather pillow, night lamp, jump rope, tennis racket,
    hockey stick, roller skates, ski poles, fishing rod, life jacket, canoe paddle, sleeping
    bag, air bed, mess kit, bug spray, sun cream, hand soap, shaving kit, travel iron
    """
)

ROOMS = _words(
    """
    kitchen bathroom bedroom attic cellar garage garden hall office library nursery pantry
    workshop balcony terrace shed studio lounge laundry porch
    """
)

RECORD_NOUNS = _words(
    """
    Parcel Garden Library Ticket Recipe Journey Account Station Theatre Bakery Workshop Orchard
    Vehicle Lantern Cabinet Museum Harbour Playlist Notebook Festival Blanket Bicycle Kettle
    Warehouse Aquarium Bookshelf Campsite Contract Delivery Elevator Factory Gallery Hospital
    Invoice Jacket Kitchen Locker Meeting Newspaper Office Package Quarry Restaurant Suitcase
    Tournament Umbrella Village Wallet Yacht Apartment Backpack Concert Ferry Greenhouse Hotel
    Island Lesson Market Orchestra Pharmacy
    """
)

TEXT_FIELDS = _words(
    """
    owner title label colour city author street brand teacher country material language driver
    sender category manager nickname flavour origin status
    """
)

NUMBER_FIELDS = _words(
    """
    weight price height width length seats pages rooms floors points stock speed age volume
    guests copies wheels boxes hours visits votes windows shelves tables keys coins stamps lamps
    deposit balance score level depth mileage
    """
)


# A thing and several of it, as the variables of a loop.
LOOPS: Pool[tuple[str, str]] = Pool(
    (one, f"{one}s")
    for one in _words(
        """
        price score weight length age mark speed height width page point vote bill coin step hour
        guest cost level depth size share reading value amount order seat visit distance number
        total_cost wage fee load sample rate
        """
    )
)

_PLAIN = (
    *(PEOPLE, TOWNS, GOODS, WARES, JOBS, ANIMALS, COLOURS, ACTS, ROOMS, RECORD_NOUNS),
    *(TEXT_FIELDS, NUMBER_FIELDS),
)


@cache
def _coin_all() -> None:
    """Fill every pool up, once, when a training text is made: the page needs none of it.

    What is coined is never a real word of any pool but LOOPS.
    """
    real = {word for pool in (*_PLAIN, THINGS) for phrase in pool for word in phrase.split()}
    for pool in _PLAIN:
        pool.coined = tuple(_coined(part(pool, TRAIN), _COINED * len(pool), real))
    parts = [[phrase.split()[at] for phrase in part(THINGS, TRAIN)] for at in (0, -1)]
    made = (_coined(words, _COINED * len(THINGS), real) for words in parts)
    THINGS.coined = tuple(" ".join(pair) for pair in zip(*made, strict=True))
    real |= {word for pair in LOOPS for word in pair}
    singles = _coined([one for one, _ in part(LOOPS, TRAIN)], 2 * len(LOOPS), real)
    LOOPS.coined = tuple((word, f"{word}s") for word in singles)
