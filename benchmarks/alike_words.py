"""The words of the look-alikes: subjects of five kinds, their attributes, and how those are told and asked. All invented."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """What every subject of a kind has: ``{s}`` stands for the subject, ``{v}`` for the value.

    ``noun`` names the attribute of a subject inside a sentence, ``word`` is in each of ``told``. ``change`` says how a value comes
    to be another: ``value`` (a new one replaces it), ``mistake`` (the first one was wrong), ``never`` (a second one is next to
    the first, as two meals in one city do).
    """

    word: str
    noun: str
    told: tuple[str, ...]
    asked: str
    reworded: tuple[str, ...]
    past: str
    values: tuple[str, ...]
    change: str = "value"
    mention: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Subjects of one kind: the first ``near`` of them have names that are nearly the same, two and two.

    ``crowds`` are sentences about many subjects at once (``{all}``), ``events`` and ``decisions`` two things each that happened to one
    subject and replace nothing, ``unknown`` questions for an attribute that no memory mentions, with its word.
    """

    name: str
    subjects: tuple[str, ...]
    near: int
    attributes: tuple[Attribute, ...]
    crowds: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    unknown: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """All words of a set: its kinds, and how a value is told to have changed (``{old}``, ``{v}``, ``{noun}`` or ``{Noun}``)."""

    name: str
    kinds: tuple[Kind, ...]
    changed_with_words: tuple[str, ...]
    changed_by_date: tuple[str, ...]
    corrected: tuple[str, ...]


_DOCTORS = tuple(
    f"Dr. {name}"
    for name in (
        "Achterberg", "Bellweather", "Cattaneo", "Drossel", "Eklund", "Farkas", "Grünwald", "Hatzis", "Ibsen-Roy", "Jelinek", "Kowalke",
        "Lindqvist", "Marchetti", "Novotny", "Oyelaran", "Pfeil", "Quilty", "Rasmund", "Stoyanov", "Tamburo", "Ulveland", "Vasquez",
    )
)  # fmt: skip
_SURNAMES = (
    "Mr. Abernethy", "Mrs. Bouchard", "Mr. Castellan", "Ms. Dimitrou", "Mr. Egerton", "Mrs. Falkner", "the Gantry brothers",
    "Ms. Holloway", "Mr. Iversen", "Mrs. Jankowski", "Mr. Kessel", "the Lorimer trust", "Ms. Mbeki", "Mr. Nettleton", "Mrs. Orsini",
    "Mr. Pemberly", "Ms. Quaye", "Mr. Rowntree", "Mrs. Sandoval", "Mr. Tolliver",
)  # fmt: skip
_COLLEAGUES = (
    "Beatriz", "Cornelius", "Devika", "Emeka", "Florentine", "Gideon", "Henrike", "Ishaan", "Juliette", "Kasimir", "Leocadia", "Magnus",
    "Nkechi", "Ottoline", "Pascal", "Radmila", "Severin", "Thandiwe", "Ursin", "Valentina",
)  # fmt: skip
_DAYS = tuple(
    f"{day} {month}" for day, month in zip(
        (2, 4, 5, 7, 8, 9, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 30),
        ("January", "February", "April", "May", "June", "July", "August", "September", "October", "November", "December") * 2,
        strict=False,
    )
)  # fmt: skip

_PEOPLE = Kind(
    name="people",
    subjects=(
        "Ann", "Anna", "Jon", "Jonas", "Eli", "Elif", "Mar", "Mara", "Ada", "Bo", "Cem", "Dara", "Edda", "Ferenc", "Greta", "Hamid",
        "Imke", "Joaquin", "Kirsi", "Lorcan", "Mehdi", "Nadja", "Olu", "Petra", "Quentin", "Rosalind", "Sefa", "Tove", "Ulf", "Vikram",
        "Wanda", "Xenia", "Yusuf", "Zdenka", "Alasdair", "Birgit", "Chidi", "Dorota", "Esteban", "Fumiko", "Gustav", "Hedwig", "Ilan",
        "Jadwiga", "Kwame", "Ludmila", "Matthijs", "Noor", "Ottavia", "Piers", "Ragnhild", "Silvan", "Tamsin", "Ursula", "Vito", "Wiebke",
        "Yannick", "Zora", "Annika", "Jonathan", "Adam", "Boris",
    ),
    near=8,
    attributes=(
        Attribute(
            word="dentist", noun="{s}'s dentist", asked="Who is {s}'s dentist?",
            told=("{s}'s dentist is {v}.", "{s} goes to {v}, a dentist near the station.", "Dentist of {s}: {v}."),
            reworded=("Which dentist does {s} go to?", "Who looks after {s}'s teeth?"),
            past="Who was {s}'s dentist before?", values=_DOCTORS, mention="{s} has to go back to the dentist in two weeks.",
        ),
        Attribute(
            word="birthday", noun="{s}'s birthday", asked="When is {s}'s birthday?",
            told=("{s}'s birthday is on {v}.", "{s} has a birthday on {v}.", "Birthday of {s}: {v}."),
            reworded=("What is the date of {s}'s birthday?", "When was {s} born?"),
            past="Which date did I have for {s}'s birthday before?", values=_DAYS, change="mistake",
            mention="{s} would rather not celebrate the birthday this year.",
        ),
        Attribute(
            word="shoe", noun="{s}'s shoe size", asked="What is {s}'s shoe size?",
            told=("{s}'s shoe size is {v}.", "{s} wears shoe size {v}.", "{s} needs a {v} in shoes (shoe size)."),
            reworded=("Which size of shoe does {s} wear?", "How big are {s}'s feet?"),
            past="What was {s}'s shoe size before?",
            values=tuple(str(size) for size in range(28, 48)), mention="{s} lost a shoe at the beach.",
        ),
        Attribute(
            word="tea", noun="{s}'s favourite tea", asked="What is {s}'s favourite tea?",
            told=("{s}'s favourite tea is {v}.", "The tea that {s} likes best is {v}.", "{s} drinks {v}, by far the favourite tea."),
            reworded=("Which tea does {s} like best?", "What should I brew when {s} visits?"),
            past="What used to be {s}'s favourite tea?",
            values=("rooibos", "lapsang", "sencha", "peppermint", "darjeeling", "hibiscus", "chai", "oolong", "fennel", "lemon verbena",
                    "assam", "earl grey", "nettle", "jasmine", "pu-erh"),
            mention="{s} broke the handle of the tea pot.",
        ),
        Attribute(
            word="car", noun="{s}'s car", asked="Which car does {s} drive?",
            told=("{s}'s car is {v}.", "{s} drives {v} as the family car.", "Car of {s}: {v}."),
            reworded=("What kind of car is {s}'s?", "Which vehicle belongs to {s}?"),
            past="Which car did {s} drive before?",
            values=("a green Corsa", "a white Fabia estate", "an old Volvo 240", "a red Panda", "a blue Zoe", "a silver Yaris",
            "a Berlingo",
                    "a black Octavia", "a yellow Twingo", "a grey Passat", "a Kangoo", "an orange Jimny", "a Leaf", "a brown Duster"),
            mention="{s} left an umbrella in somebody's car.",
        ),
        Attribute(
            word="landlord", noun="{s}'s landlord", asked="Who is {s}'s landlord?",
            told=("{s}'s landlord is {v}.", "{s} rents from {v}, the landlord.", "The landlord of {s} is called {v}."),
            reworded=("Which landlord does {s} have?", "Who does {s} rent the flat from?"),
            past="Who was {s}'s landlord before?", values=_SURNAMES, mention="{s} quarrelled with the landlord about the bins.",
        ),
        Attribute(
            word="allerg", noun="{s}'s allergy", asked="What allergy does {s} have?",
            told=("{s}'s allergy is {v}.", "{s} has an allergy: {v}.", "Careful with {v}, {s} has an allergy to it."),
            reworded=("Which allergy must I keep in mind for {s}?", "What can {s} not eat?"),
            past="Which allergy did I note for {s} before?", change="mistake",
            values=("hazelnuts", "shellfish", "celery", "kiwi", "sesame", "penicillin", "cow's milk", "strawberries", "mustard", "lupin",
                    "bee venom", "latex", "apples", "soy"),
            mention="{s} asked the waiter three times about the allergy card.",
        ),
    ),
    crowds=(
        "Met {all} at the dentist's party.", "{all} compared their shoe sizes and laughed.",
        "Birthday list in the kitchen: {all} still to fill in.",
        "{all} shared one car to the lake.", "{all} complained about landlords all evening.", "Bought tea for {all}.",
        "Asked {all} about every allergy before cooking.",
    ),
    pairs=(
        ("{s} ran the half marathon in the rain.", "{s} ran the charity mile on Saturday."),
        ("{s} was at the dentist on Tuesday for a filling.", "{s} was at the dentist on Friday for a check."),
        ("Lunch with {s} at the canal, we talked about sailing.", "Lunch with {s} at the market, we talked about schools."),
    ),
    unknown=(
        ("Who is {s}'s piano teacher?", "piano"), ("What is {s}'s blood group?", "blood"), ("Which bank is {s} with?", "bank"),
        ("What is the name of {s}'s dog?", "dog"), ("Which gym does {s} belong to?", "gym"), ("What is {s}'s passport number?", "passport"),
        ("Who is {s}'s hairdresser?", "hairdresser"), ("Which insurer does {s} use?", "insurer"),
    ),
)  # fmt: skip

_PROJECTS = Kind(
    name="projects",
    subjects=(
        "api-gateway", "api-gateway-v2", "Heron", "Heron Lite", "Quarry", "Quarryman", "Lantern", "Lantern-web", "Thistle", "Borealis",
        "Copperfield", "Driftwood", "Ember", "Foxglove", "Granite", "Hollyhock", "Inkwell", "Juniper", "Kingfisher", "Limestone",
        "Marigold",
        "Nutmeg", "Obsidian", "Pinewood", "Quicksand", "Rosehip", "Saltmarsh", "Tamarind", "Umber", "Velvet", "Willow", "Yarrow", "Zephyr",
        "billing-core", "cart-service", "docs-portal", "edge-cache", "feed-reader", "geo-index", "help-desk", "invoice-mailer",
        "job-runner",
        "kiosk-app", "log-shipper", "map-tiles", "note-sync", "order-hub", "photo-vault", "queue-worker", "rate-limiter", "search-proxy",
        "tax-engine", "user-store", "video-cutter", "web-hooks", "Moonstone", "Herringbone", "auth-gateway", "Larkspur", "Basalt",
        "Cinnabar",
    ),
    near=8,
    attributes=(
        Attribute(
            word="database", noun="the database of {s}", asked="Which database does {s} use?",
            told=("{s} uses {v} as its database.", "The database of {s} is {v}.", "{s} runs on {v} (database)."),
            reworded=("What database is behind {s}?", "Where does {s} keep its data?"), past="Which database did {s} use before?",
            values=("PostgreSQL", "MariaDB", "SQLite", "CockroachDB", "MongoDB", "Cassandra", "DynamoDB", "Firebird", "ClickHouse",
            "Neo4j"),
            mention="{s} asked the database people for more disk.",
        ),
        Attribute(
            word="deadline", noun="the deadline of {s}", asked="What is the deadline of {s}?",
            told=("The deadline of {s} is {v}.", "{s} has its deadline on {v}.", "Deadline {s}: {v}."),
            reworded=("When is the deadline for {s}?", "By when must {s} be finished?"), past="What was the deadline of {s} before?",
            values=_DAYS, mention="Nobody is nervous about the deadline of {s} yet.",
        ),
        Attribute(
            word="lead", noun="the lead of {s}", asked="Who is the lead of {s}?",
            told=("The lead of {s} is {v}.", "{v} is the lead of {s}.", "{s} has {v} as technical lead."),
            reworded=("Who is lead on {s}?", "Who is in charge of {s}?"), past="Who was the lead of {s} before?",
            values=_COLLEAGUES, mention="The lead of {s} was on holiday when we called.",
        ),
        Attribute(
            word="budget", noun="the budget of {s}", asked="What is the budget of {s}?",
            told=("The budget of {s} is {v}.", "{s} got a budget of {v}.", "Budget for {s}: {v}."),
            reworded=("How large is the budget for {s}?", "How much money may {s} spend?"), past="What was the budget of {s} before?",
            values=tuple(f"{amount},000 euros" for amount in range(12, 96, 4)), mention="The budget of {s} was on the agenda again.",
        ),
        Attribute(
            word="branch", noun="the release branch of {s}", asked="What is the release branch of {s}?",
            told=("The release branch of {s} is {v}.", "{s} is released from the branch {v}.", "Release branch for {s}: {v}."),
            reworded=("From which branch is {s} released?", "Where do I merge fixes that go out with {s}?"),
            past="What was the release branch of {s} before?",
            values=("main", "stable", "rel/24.2", "rel/24.3", "ship", "production", "trunk", "v3-maintenance", "release/next", "golden"),
            mention="Somebody pushed to the release branch of {s} by mistake.",
        ),
        Attribute(
            word="port", noun="the port of {s}", asked="Which port does {s} listen on?",
            told=("{s} listens on port {v}.", "The port of {s} is {v}.", "Local development of {s}: port {v}."),
            reworded=("What is the port number of {s}?", "Where do I reach {s} on localhost?"), past="Which port did {s} listen on before?",
            values=tuple(str(number) for number in range(7010, 9900, 131)), mention="A firewall rule for the port of {s} is still missing.",
        ),
    ),
    crowds=(
        "Stand-up: {all} all moved their deadline talk to Thursday.", "Budget round for {all}: nothing decided yet.",
        "{all} were named in the memo on release branches.", "Asked the leads of {all} for slides.",
        "{all} have to name their port in the wiki.",
        "The database training is for {all}.",
    ),
    pairs=(
        ("Decision on {s}: logs are kept for thirty days.", "Decision on {s}: the old clients stay supported until summer."),
        ("The demo of {s} on Monday froze twice.", "The demo of {s} for the board went smoothly."),
        ("Decided for {s}: no feature flags in the mobile part.", "Decided for {s}: reviews need two people."),
    ),
    unknown=(
        ("Which licence does {s} have?", "licence"), ("What is the mascot of {s}?", "mascot"), ("Which cloud region hosts {s}?", "region"),
        ("Who is the sponsor of {s}?", "sponsor"), ("What is the retry limit of {s}?", "retry"),
        ("Which linter does {s} use?", "linter"), ("What is the uptime goal of {s}?", "uptime"), ("Which font does {s} use?", "font"),
    ),
)  # fmt: skip

_TICKETS = Kind(
    name="tickets",
    subjects=(
        "BUG-41", "BUG-412", "HYD-120", "HYD-1207", "BUG-88", "BUG-881", "HYD-33", "HYD-331",
        *(f"{team}-{number}" for number in range(507, 1990, 55) for team in ("BUG", "HYD")),
    ),
    near=8,
    attributes=(
        Attribute(
            word="state", noun="the state of {s}", asked="What is the state of {s}?",
            told=("The state of {s} is {v}.", "{s}, state: {v}.", "{s} stands at state {v}."),
            reworded=("In which state is {s}?", "How far along is {s}?"), past="What was the state of {s} before?",
            values=("open", "in review", "blocked", "closed", "waiting for the customer", "ready for testing", "reopened", "deferred"),
            mention="The state of {s} is shown in the wrong colour.",
        ),
        Attribute(
            word="assign", noun="the assignee of {s}", asked="Who is the assignee of {s}?",
            told=("The assignee of {s} is {v}.", "{s} has {v} as assignee.", "Assignee of {s}: {v}."),
            reworded=("Who is assigned to {s}?", "Who works on {s}?"), past="Who was the assignee of {s} before?",
            values=_COLLEAGUES, mention="The assignee of {s} gets the mails twice.",
        ),
        Attribute(
            word="cause", noun="the cause of {s}", asked="What is the cause of {s}?",
            told=("The cause of {s} is {v}.", "{s} has {v} as its cause.", "Found the cause of {s}: {v}."),
            reworded=("What turned out to be the cause of {s}?", "Why does {s} happen?"),
            past="What did we take for the cause of {s} before?",
            values=("a race in the scheduler", "a missing index", "an expired certificate", "a wrong time zone", "a full disk",
                    "a stale cache", "a typo in the template", "an unclosed socket", "a rounding error", "a renamed column",
                    "a lost webhook", "an old browser", "a bad migration", "a swallowed exception"),
            change="mistake", mention="Nobody wants to guess the cause of {s}.",
        ),
    ),
    crowds=(
        "Went through {all} in triage.", "{all} share a label, their causes are not discussed here.",
        "Printed the state board with {all} on it.",
        "{all} came up when we talked about who gets assigned what.",
    ),
    pairs=(
        ("A customer called about {s} on Monday and was friendly.", "A customer called about {s} on Thursday and was angry."),
        ("Decision on {s}: no hotfix.", "Decision on {s}: the test stays in the nightly run."),
    ),
    unknown=(
        ("What is the severity of {s}?", "severity"), ("Who is the reporter of {s}?", "reporter"),
        ("How many story points has {s}?", "points"), ("Which sprint is {s} in?", "sprint"), ("Which screenshot belongs to {s}?",
        "screenshot"),
    ),
)  # fmt: skip

_STEMS = (
    "router", "parser", "session", "mailer", "ledger", "palette", "scanner", "planner", "gateway", "widget", "metrics", "importer",
    "exporter", "throttle", "calendar", "avatar", "ranking", "locale", "backup", "thumbnails",
)  # fmt: skip
_FILES = Kind(
    name="files",
    subjects=(
        "src/router.py", "src/router_test.py", "web/app.ts", "web/apps.ts", "lib/parser.py", "lib/parsers.py", "src/ledger.rs",
        "old/src/ledger.rs",
        *(f"{folder}/{stem}.{end}" for stem in _STEMS[2:] for folder, end in (("core", "py"), ("ui", "tsx"), ("tools", "sh"))),
    ),
    near=8,
    attributes=(
        Attribute(
            word="owner", noun="the owner of {s}", asked="Who is the owner of {s}?",
            told=("The owner of {s} is {v}.", "{v} is the owner of {s}.", "{s} (owner: {v})."),
            reworded=("Which owner has {s}?", "Whom do I ask about changes in {s}?"), past="Who was the owner of {s} before?",
            values=_COLLEAGUES, mention="CODEOWNERS names no owner for {s} in one old branch.",
        ),
        Attribute(
            word="purpose", noun="the purpose of {s}", asked="What is the purpose of {s}?",
            told=("The purpose of {s} is {v}.", "{s} has one purpose, {v}.", "Purpose of {s}: {v}."),
            reworded=("Which purpose does {s} serve?", "What is {s} there for?"), past="What was the purpose of {s} before?",
            values=("to map paths to handlers", "to read the vendor's feed", "to keep the signed-in state", "to write nightly copies",
                    "to count requests", "to draw the side bar", "to check translations", "to slow down noisy clients",
                    "to merge calendars", "to shrink pictures", "to close the books"),
            mention="The purpose of {s} was the quiz question at lunch.",
        ),
    ),
    crowds=(
        "Moved {all} to four spaces.", "Nobody is the owner of all of {all}.", "The linting pull request touches {all}.",
        "Wrote one line on the purpose of folders, examples {all}.",
    ),
    pairs=(
        ("The refactoring of {s} in spring took two days.", "The refactoring of {s} in autumn took an hour."),
        ("Decision on {s}: no new globals.", "Decision on {s}: it keeps its name."),
    ),
    unknown=(
        ("How many characters has {s}?", "characters"), ("Which encoding has {s}?", "encoding"), ("What is the coverage of {s}?",
        "coverage"),
        ("Which checksum has {s}?", "checksum"), ("Who is the translator of {s}?", "translator"),
    ),
)  # fmt: skip

_HOTELS = (
    "the Albatross", "Casa Lume", "Pension Adler", "the Blue Anchor", "Hotel Miramonti", "the Old Mint", "Villa Serena", "the Tramway Inn",
    "Hotel Kastanie", "the Glass House", "Hostal Aurora", "the Dunes", "Hotel Meridian", "the Weavers' Rest", "Locanda Verde",
)  # fmt: skip
_MEALS = (
    "the Copper Ladle", "Trattoria Gino", "Noodle Corner", "the Fig Tree", "Chez Odette", "the Salt Cellar", "Taverna Ilios",
    "Zum Hirschen",
    "the Third Spoon", "Marisqueira Azul", "Kebab House Ali", "the Mulberry", "Bistro Ravel", "La Cantina Rossa", "the Dumpling Den",
)  # fmt: skip
_CITIES = Kind(
    name="cities",
    subjects=(
        "York", "New York", "Porto", "Porto Alegre", "Salem", "Jerusalem", "Orleans", "New Orleans", "Lyon", "Turin", "Graz", "Bergen",
        "Malmö", "Bilbao", "Ghent", "Tartu", "Riga", "Split", "Zadar", "Cork", "Leeds", "Basel", "Trieste", "Verona", "Krakow", "Gdansk",
        "Brno", "Seville", "Nantes", "Lille", "Aarhus", "Oulu", "Tampere", "Galway", "Cardiff", "Dundee", "Utrecht", "Bruges", "Trento",
        "Padua", "Cadiz", "Faro", "Funchal", "Izmir", "Patras", "Varna", "Sibiu", "Cluj", "Maribor", "Linz", "Bern", "Annecy", "Dijon",
        "Metz",
        "Rouen", "Vigo", "Lecce", "Olbia", "Poznan", "Kaunas", "Narva", "Visby",
    ),
    near=8,
    attributes=(
        Attribute(
            word="hotel", noun="our hotel in {s}", asked="Which hotel do we have in {s}?",
            told=("Our hotel in {s} is {v}.", "In {s} we booked {v} as the hotel.", "Hotel for {s}: {v}."),
            reworded=("What is our hotel in {s} called?", "Where do we sleep in {s}?"), past="Which hotel did we have in {s} before?",
            values=_HOTELS, mention="The hotel prices in {s} are absurd in August.",
        ),
        Attribute(
            word="airport", noun="the airport transfer in {s}", asked="What is the airport transfer in {s}?",
            told=("The airport transfer in {s} is {v}.", "In {s} we take {v} as airport transfer.", "Airport transfer for {s}: {v}."),
            reworded=("How is the airport transfer in {s} arranged?", "How do we get from the plane to {s}?"),
            past="What was the airport transfer in {s} before?",
            values=tuple(f"{what} {number}" for what in ("bus line", "tram", "shuttle",
            "the local train RE") for number in (2, 5, 11, 36, 47)),
            mention="The airport of {s} has no lockers.",
        ),
        Attribute(
            word="ate", noun="where we ate in {s}", asked="Where have we eaten in {s}, what was the place we ate at?",
            told=("In {s} we ate at {v}.", "We ate at {v} in {s}.", "{s}: we ate at {v} and liked it."),
            reworded=("Which restaurant was it where we ate in {s}?", "Where did we have dinner in {s}?"),
            past="", values=_MEALS, change="never", mention="In {s} we hardly ate anything because of the heat.",
        ),
    ),
    crowds=(
        "Compared hotel prices in {all}.", "{all} are on the list for the summer.", "Looked up the way from the airport for {all}.",
        "Friends ate their way through {all}.",
    ),
    pairs=(
        ("On the first day in {s} it rained and we went to the museum.", "On the second day in {s} it rained and we stayed in bed."),
        ("The concert in {s} in June was sold out.", "The concert in {s} in July was half empty."),
    ),
    unknown=(
        ("Which ticket do we have for {s}?", "ticket"), ("Who is our guide in {s}?", "guide"), ("Which ferry goes to {s}?", "ferry"),
        ("Where is the laundry in {s}?", "laundry"), ("Which pharmacy is open in {s}?", "pharmacy"),
    ),
)  # fmt: skip

WORDING = Wording(
    name="alike",
    kinds=(_PEOPLE, _PROJECTS, _TICKETS, _FILES, _CITIES),
    changed_with_words=(
        "{Noun} is {v} now, no longer {old}.",
        "{Noun} has changed: {v} instead of {old}.",
        "Update: {noun} is now {v}.",
        "New since today: {noun} is {v}.",
    ),
    changed_by_date=(
        "As of {month} {noun} is {v}.",
        "Since {day} {month} {noun} is {v}.",
        "From {day} {month} on {noun} is {v}.",
    ),
    corrected=(
        "Correction: {noun} is {v}, not {old}.",
        "I had that wrong, {noun} is {v}.",
        "{Noun} is actually {v}.",
    ),
)
