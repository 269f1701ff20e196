"""Other words for look-alikes, to check with: kinds, attributes and ways of change that nothing was fitted to. All invented."""

from __future__ import annotations

from benchmarks.alike_words import Attribute, Kind, Wording

_HANDLERS = (
    "Ansgar", "Blandine", "Cosimo", "Dagny", "Evander", "Fabiola", "Gunnar", "Hildur", "Ivo", "Jolanta", "Konrad", "Liesbeth", "Marisol",
    "Nikola", "Oriane", "Prosper", "Quirin", "Roswitha", "Stellan", "Tiziana",
)  # fmt: skip
_FIRMS = (
    "Ostrander", "Kvist", "Bellamy", "Tarkowski", "Delacroix", "Fenwick", "Guillermin", "Hasselblad-Roth", "Inkster", "Jurgens", "Kolbe",
    "Larrabee", "Mandrake", "Nordstrand", "Ogilvy", "Pfister", "Quillfeather", "Rademaker", "Saltzman", "Trelawney", "Ulrich", "Vandermeer",
    "Wexford", "Yardley", "Zoltan", "Appleyard", "Brisco", "Cavendish", "Duquesne", "Eberhart", "Fairfax",
)  # fmt: skip
_TRADES = (
    "Dairy", "Timber", "Optics", "Bakeries", "Freight", "Textiles", "Seeds", "Glass", "Foundry", "Pumps", "Roofing", "Paints", "Salt",
    "Ceramics", "Bicycles", "Cider", "Flooring", "Lamps", "Mills", "Nurseries", "Organs", "Packaging", "Quarries", "Ropes", "Sails",
    "Tools",
    "Umbrellas", "Valves", "Wines", "Yarns", "Zippers",
)  # fmt: skip

_CUSTOMERS = Kind(
    name="customers",
    subjects=tuple(
        f"{firm} {_TRADES[(number + step) % len(_TRADES)]}" for number, firm in enumerate(_FIRMS) for step in (0, 7)
    ),
    near=8,
    attributes=(
        Attribute(
            word="discount", noun="the discount of {s}", asked="What discount does {s} get?",
            told=("{s} gets a discount of {v}.", "Discount for {s}: {v}.", "We agreed with {s} on {v} discount."),
            reworded=("How large is the discount for {s}?", "By how much do we lower the price for {s}?"),
            past="What discount did {s} get before?", values=tuple(f"{number} percent" for number in range(2, 19)),
            mention="{s} asked whether the discount can be printed on the offer.",
        ),
        Attribute(
            word="contact", noun="the contact at {s}", asked="Who is our contact at {s}?",
            told=("Our contact at {s} is {v}.", "At {s}, {v} is the contact.", "{s} named {v} as contact."),
            reworded=("Which contact do we have at {s}?", "Whom do I call at {s}?"), past="Who was our contact at {s} before?",
            values=_HANDLERS, mention="The contact form of {s} does not work.",
        ),
        Attribute(
            word="payment", noun="the payment term of {s}", asked="What is the payment term of {s}?",
            told=("The payment term of {s} is {v}.", "{s} has a payment term of {v}.", "Payment term, {s}: {v}."),
            reworded=("Which payment term did we grant {s}?", "When must {s} settle an invoice?"),
            past="What was the payment term of {s} before?", values=tuple(f"{days} days" for days in range(7, 95, 6)),
            mention="A payment of {s} was booked twice.",
        ),
    ),
    crowds=(
        "Sent the new catalogue to {all}.", "{all} asked about a discount in the same week.", "Christmas cards for the contacts at {all}.",
        "Payment reminders went to {all}.",
    ),
    pairs=(
        ("Visited {s} in spring, the canteen was good.", "Visited {s} in autumn, the yard was flooded."),
        ("We decided to show {s} the new catalogue first.", "We decided to invite {s} to the fair."),
    ),
    unknown=(
        ("What is the tax number of {s}?", "tax"), ("Which courier does {s} want?", "courier"), ("Who audits {s}, who is its auditor?",
        "auditor"),
        ("What is the credit limit of {s}?", "limit"), ("What is the slogan of {s}?", "slogan"),
    ),
)  # fmt: skip

_SERVERS = Kind(
    name="servers",
    subjects=(
        "web-03", "web-30", "db-eu-1", "db-eu-11", "cache-a", "cache-aa", "mail-7", "mail-77",
        *(f"{role}-{place}-{number}" for role in ("app", "log", "proxy") for place in ("ams", "sin", "gru") for number in range(2, 8)),
    ),
    near=8,
    attributes=(
        Attribute(
            word="system", noun="the operating system of {s}", asked="Which operating system runs on {s}?",
            told=("{s} runs {v} as operating system.", "The operating system of {s} is {v}.", "{s}: operating system {v}."),
            reworded=("What is the operating system on {s}?", "Is it Linux or something else on {s}?"),
            past="Which operating system ran on {s} before?",
            values=("Debian 12", "Debian 13", "Ubuntu 24.04", "Alpine 3.21", "Rocky 9", "FreeBSD 14", "OpenBSD 7.6", "NixOS 25.05",
            "Fedora 42"),
            mention="Somebody updated the operating system docs page and left out {s}.",
        ),
        Attribute(
            word="memory", noun="the memory of {s}", asked="How much memory does {s} have?",
            told=("{s} has {v} of memory.", "The memory of {s} is {v}.", "Memory in {s}: {v}."),
            reworded=("What is the memory size of {s}?", "How many gigabytes are in {s}?"), past="How much memory did {s} have before?",
            values=tuple(f"{size} GB" for size in (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)),
            mention="A memory graph of {s} hangs in the hall.",
        ),
        Attribute(
            word="admin", noun="the admin of {s}", asked="Who is the admin of {s}?",
            told=("The admin of {s} is {v}.", "{s} has {v} as admin.", "{v} is admin for {s}."),
            reworded=("Which admin is responsible for {s}?", "Who looks after {s}?"), past="Who was the admin of {s} before?",
            values=_HANDLERS, mention="The admin account of {s} has a funny picture.",
        ),
    ),
    crowds=(
        "Rebooted {all} on Sunday.", "{all} are in the same rack as the memory tester.", "New admin training covers {all}.",
        "The operating system survey lists {all}.",
    ),
    pairs=(
        ("{s} was down for four minutes on the 3rd.", "{s} was down for an hour on the 19th."),
        ("We decided that {s} needs no backup.", "We decided that {s} is painted blue on the map."),
    ),
    unknown=(
        ("What is the serial of {s}?", "serial"), ("When does the warranty of {s} end?", "warranty"), ("Which vendor sold us {s}?",
        "vendor"),
        ("What is the fan speed of {s}?", "fan"), ("Which vlan is {s} in?", "vlan"),
    ),
)  # fmt: skip

_ROOMS = Kind(
    name="rooms",
    subjects=(
        "Room 2.4", "Room 2.40", "Room 1.12", "Room 11.2", "Hall 3", "Hall 33", "Lab B", "Lab BB",
        *(f"Room {floor}.{number}" for floor in range(3, 10) for number in range(51, 59)),
    ),
    near=8,
    attributes=(
        Attribute(
            word="seats", noun="the number of seats in {s}", asked="How many seats are in {s}?",
            told=("{s} has {v} seats.", "There are {v} seats in {s}.", "Seats, {s}: {v}."),
            reworded=("What is the number of seats of {s}?", "How many people fit into {s}?"), past="How many seats were in {s} before?",
            values=tuple(str(number) for number in range(8, 120, 6)), mention="The seats of {s} squeak.",
        ),
        Attribute(
            word="code", noun="the door code of {s}", asked="What is the door code of {s}?",
            told=("The door code of {s} is {v}.", "{s} opens with the code {v}.", "Code for {s}: {v}."),
            reworded=("Which code opens {s}?", "How do I get into {s}?"), past="What was the door code of {s} before?",
            values=tuple(f"{number}#" for number in range(1408, 9700, 457)),
            mention="Somebody wrote the code of a bicycle lock on the board in {s}.",
        ),
        Attribute(
            word="booked", noun="the one who booked {s}", asked="Who booked {s} for the term?",
            told=("{s} is booked for the term by {v}.", "{v} booked {s} for the whole term.", "For the term {v} has booked {s}."),
            reworded=("By whom is {s} booked this term?", "Whose is {s} this term?"), past="Who had booked {s} before?",
            values=_HANDLERS, mention="{s} was booked for a birthday once.",
        ),
    ),
    crowds=(
        "Cleaned the boards in {all}.", "The seats in {all} are counted next week.", "Nobody told the porter the codes of {all}.",
        "{all} can be booked at the front desk.",
    ),
    pairs=(
        ("The heating in {s} failed in January.", "The heating in {s} failed in March."),
        ("We decided to leave the piano in {s}.", "We decided to paint {s} green."),
    ),
    unknown=(
        ("Which projector is in {s}?", "projector"), ("Who sweeps {s}, which janitor?", "janitor"), ("What is the carpet of {s} made of?",
        "carpet"),
        ("How high is the ceiling of {s}?", "ceiling"), ("Which microphone is in {s}?", "microphone"),
    ),
)  # fmt: skip

_HORSES = Kind(
    name="horses",
    subjects=(
        "Star", "Starlight", "Misty", "Mist", "Duke", "Dukedom", "Rosie", "Rosie Two", "Bramble", "Comet", "Dapple", "Esmeralda", "Falco",
        "Ginger", "Huckleberry", "Indigo", "Jasper", "Kestutis", "Lollipop", "Mungo", "Nougat", "Oberon", "Pepper", "Quicksilver", "Rufus",
        "Sable", "Toffee", "Urania", "Vulcan", "Whistler", "Xanthos", "Yoghurt", "Zampano", "Almond", "Biscotti", "Caramel", "Domino",
        "Eclipse", "Flurry", "Galahad", "Hazel", "Icarus", "Jigsaw", "Kismet", "Lancelot", "Maestro", "Nimbus", "Orlando", "Pilgrim",
        "Quaver",
        "Raven", "Sirocco", "Thunder", "Ulysses", "Vesper", "Wren", "Starling", "Yarrowby", "Zinnia", "Dukat", "Mistral", "Cobalt",
    ),
    near=8,
    attributes=(
        Attribute(
            word="farrier", noun="{s}'s farrier", asked="Who is {s}'s farrier?",
            told=("{s}'s farrier is {v}.", "{v} is the farrier who does {s}.", "Farrier for {s}: {v}."),
            reworded=("Which farrier does {s} have?", "Who shoes {s}?"), past="Who was {s}'s farrier before?",
            values=_HANDLERS, mention="{s} kicked at the farrier's dog.",
        ),
        Attribute(
            word="feed", noun="{s}'s feed", asked="Which feed does {s} get?",
            told=("{s}'s feed is {v}.", "As feed, {s} gets {v}.", "Feed, {s}: {v}."),
            reworded=("What feed is right for {s}?", "What do I put into the manger of {s}?"), past="Which feed did {s} get before?",
            values=("oats and chaff", "soaked beet", "barley flakes", "hay cobs", "linseed mash", "muesli without grain", "alfalfa",
            "rice bran"),
            mention="{s} tipped over the feed bucket.",
        ),
        Attribute(
            word="rider", noun="{s}'s rider", asked="Who is {s}'s rider?",
            told=("{s}'s rider is {v}.", "{s} has {v} as regular rider.", "Rider of {s}: {v}."),
            reworded=("Which rider is on {s} as a rule?", "Who trains with {s}?"), past="Who was {s}'s rider before?",
            values=_HANDLERS, mention="{s} threw a rider into the ditch.",
        ),
    ),
    crowds=(
        "{all} were out on the meadow.", "The farrier looked at {all} from afar.", "Riders of {all} met for coffee.",
        "Ordered feed, {all} watched.",
    ),
    pairs=(
        ("{s} won a ribbon in May.", "{s} won a ribbon in September."),
        ("We decided to clip {s} in November.", "We decided to take {s} to the lake."),
    ),
    unknown=(
        ("What is {s}'s chip?", "chip"), ("Which saddle fits {s}?", "saddle"), ("Who insured {s}, which insurance?", "insurance"),
        ("What is the stable box of {s}?", "box"), ("Who bred {s}, which breeder?", "breeder"),
    ),
)  # fmt: skip

CHECK = Wording(
    name="alike-check",
    kinds=(_CUSTOMERS, _SERVERS, _ROOMS, _HORSES),
    changed_with_words=(
        "{Noun} used to be {old}, today it became {v}.",
        "It was changed: {noun}, formerly {old}, is {v}.",
        "{v} replaces {old} as {noun}.",
        "{Noun} was switched to {v}.",
    ),
    changed_by_date=(
        "{Noun} will be {v} with effect from {day} {month}.",
        "By {month}, {noun} was {v}.",
        "Starting {day} {month}, {noun}: {v}.",
    ),
    corrected=("{Noun} was noted wrongly, it is {v}.", "Not {old} but {v} is {noun}."),
)
