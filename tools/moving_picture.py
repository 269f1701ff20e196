"""An SVG in which conversations are typed one after the other, and what is remembered of them appears. Pure.

It moves by CSS alone, once, and rests in its last state. Every element is drawn as it is at the end, and an animation says how it comes
there, so that a viewer that shows no animation, and a person who wants none, see all of it at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape


@dataclass(frozen=True)
class Typed:
    """A message of the person, and the line that the program answered, empty for none."""

    text: str
    answer: str


@dataclass(frozen=True)
class Remembered:
    """A line of a brief: the day on which it was said, and the words; whether it is new, and whether the next brief has it no more."""

    day: str
    words: str
    new: bool = False
    replaced: bool = False


@dataclass(frozen=True)
class Day:
    """One conversation: what it began with, and what was typed in it."""

    name: str
    assistant: str
    loaded: str
    remembered: tuple[Remembered, ...]
    typed: tuple[Typed, ...]

    def where(self) -> str:
        """Return what happens in which assistant."""
        begins = f"a new conversation in {self.assistant} begins with"
        return begins if self.loaded else f"you type in {self.assistant}"

    def lines(self) -> Iterator[str]:
        """Yield what is shown of it."""
        if self.loaded:
            yield self.loaded
        for one in self.remembered:
            yield f'{one.day} "{one.words}"'
        for said in self.typed:
            yield f"> {said.text}"
            if said.answer:
                yield said.answer


WIDTH, _EDGE, _PAD, _GAP = 720, 1, 22, 12
_ROW, _HEAD = 28, 38
_CHARACTER = 9.0  # at 15 px; every line is set to its exact width, whatever font the viewer has
_TYPING, _THINKING, _READING, _RESTING = 0.04, 0.3, 0.3, 1.1  # seconds: a letter, until an answer, a line, a pause

_STYLE = """
text{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:15px;\
fill:#f1ede6;white-space:pre}
.who,.day{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif}
.day{font-weight:700}
.who,.mark,.old{fill:#a79f92}
.told{fill:#86d6ab}
.known{fill:#8fdcd2}
.card{fill:#1d1b19;stroke:#6b645a}
.lit{fill:#14352c}
.cover{fill:#1d1b19}
.caret{fill:#f1ede6}
.wake{animation:wake .6s backwards}
.rise{animation:rise .5s ease-out backwards}
.glow{animation:glow 1.2s ease-out backwards}
.type{transform-box:fill-box;transform-origin:100% 50%;animation:type linear backwards}
.caret{animation:caret linear}
.strike{stroke:#a79f92;stroke-width:1.5;transform-box:fill-box;transform-origin:0 50%;animation:strike .6s ease-out backwards}
.fade{animation:fade .6s backwards}
@keyframes wake{from{opacity:.4}}
@keyframes rise{from{opacity:0;transform:translateY(7px)}}
@keyframes glow{from{opacity:0}30%{opacity:1;fill:#2b7a60}}
@keyframes type{from{opacity:1;transform:scaleX(1)}to{opacity:1;transform:scaleX(0)}}
@keyframes caret{from{opacity:1;transform:translateX(var(--from))}to{opacity:1;transform:none}}
@keyframes strike{from{transform:scaleX(0)}}
@keyframes fade{from{fill:#8fdcd2}}
@media(prefers-reduced-motion:reduce){*{animation:none!important}}
"""


class _Clock:
    """The second at which the next thing happens."""

    def __init__(self) -> None:
        self.now = 0.8

    def wait(self, seconds: float) -> None:
        """Let some seconds pass."""
        self.now += seconds

    def delay(self) -> str:
        """Return what lets an animation begin now."""
        return f"animation-delay:{self.now:.2f}s"


def moving_picture(days: tuple[Day, ...]) -> str:
    """Return the picture of some days, which follow each other."""
    clock, top, cards = _Clock(), _EDGE, []
    for day in days:
        cards.append(_card(day, top, clock))
        top += _height(day) + _GAP
        clock.wait(_RESTING)
    height = top - _GAP + _EDGE
    title = f"{len(days)} days, {len(days)} assistants, one memory"
    told = " ".join(f"{day.name}, {day.where()}: {_sentences(day)}" for day in days)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-labelledby="title desc">\n<title id="title">{escape(title)}</title>\n<desc id="desc">{escape(told)}</desc>\n'
    )
    return f"{head}<style>{_STYLE}</style>\n" + "".join(cards) + "</svg>\n"


def _sentences(day: Day) -> str:
    return " ".join(line if line.endswith((".", "?")) else f"{line}." for line in day.lines())


def _height(day: Day) -> int:
    return _HEAD + _ROW * (len(day.remembered) + len(day.typed)) + 12


def _card(day: Day, top: int, clock: _Clock) -> str:
    """Return a day: its head, what its conversation begins with, what is typed in it; then what that replaced is crossed out."""
    name = f'<tspan class="day">{escape(day.name)}</tspan><tspan class="who">  {escape(day.where())}</tspan>'
    head = (
        f'<rect class="card" x="{_EDGE}" y="{top}" width="{WIDTH - 2 * _EDGE}" height="{_height(day)}" rx="10"/>'
        f'<text class="wake" style="{clock.delay()}" x="{_PAD}" y="{top + 26}">{name}</text>\n'
    )
    clock.wait(0.8)
    if day.loaded:
        head += _answer(day.loaded, top + 26, clock) + "\n"
        clock.wait(_THINKING)
    baseline = top + _HEAD + 20
    begun = []
    for one in day.remembered:
        begun.append((one, baseline, clock.delay()))
        baseline += _ROW
        clock.wait(_READING)
    if begun and day.typed:
        clock.wait(_RESTING)
    typed = [_typed(said, baseline + _ROW * place, clock) for place, said in enumerate(day.typed)]
    known = [_known(one, at, delay, replaced_at=clock.delay()) for one, at, delay in begun]
    return head + "".join(known + typed)


def _typed(said: Typed, baseline: int, clock: _Clock) -> str:
    """Return a message as it is typed, behind a cover that goes letter by letter; it lights up when the program keeps some of it."""
    line = f"› {said.text}"
    width, seconds = _CHARACTER * len(line), _TYPING * len(line)
    timing = f"{clock.delay()};animation-duration:{seconds:.2f}s;animation-timing-function:steps({len(line)})"
    place = f'y="{baseline - 19}" height="26" opacity="0"'
    clock.wait(seconds + _THINKING)
    shown = _lit(baseline, clock.delay()) if said.answer else ""
    shown += (
        f'<text x="{_PAD}" y="{baseline}" textLength="{width:g}"><tspan class="mark">›</tspan>{escape(line[1:])}</text>'
    )
    shown += f'<rect class="cover type" x="{_PAD}" width="{width:g}" {place} style="{timing}"/>'
    shown += f'<rect class="caret" x="{_PAD + width:g}" width="8" {place} style="--from:-{width:g}px;{timing}"/>'
    shown += _answer(said.answer, baseline, clock) if said.answer else ""
    clock.wait(_READING)
    return shown + "\n"


def _known(one: Remembered, baseline: int, delay: str, *, replaced_at: str) -> str:
    """Return a line of a brief, lit where it is new, crossed out where it is replaced later."""
    words = f'"{one.words}"'
    begin, length = _PAD + _CHARACTER * (len(one.day) + 2), _CHARACTER * len(words)
    kind = f'class="old fade" style="{replaced_at}"' if one.replaced else 'class="known"'
    shown = _lit(baseline, delay) if one.new else ""
    shown += f'<text class="mark" x="{_PAD}" y="{baseline}" textLength="{_CHARACTER * len(one.day):g}">{escape(one.day)}</text>'
    shown += f'<text {kind} x="{begin:g}" y="{baseline}" textLength="{length:g}">{escape(words)}</text>'
    if one.replaced:
        shown += f'<path class="strike" style="{replaced_at}" d="M{begin:g} {baseline - 5}h{length:g}"/>'
    return f'<g class="rise" style="{delay}">{shown}</g>\n'


def _lit(baseline: int, delay: str) -> str:
    place = f'x="{_PAD - 12}" y="{baseline - 19}" width="{WIDTH - 2 * _PAD + 24}"'
    return f'<rect class="lit glow" style="{delay}" {place} height="26" rx="5"/>'


def _answer(text: str, baseline: int, clock: _Clock) -> str:
    """Return the program's own line, at the right."""
    length = _CHARACTER * len(text)
    place = f'x="{WIDTH - _PAD - length:g}" y="{baseline}" textLength="{length:g}"'
    return f'<text class="told rise" style="{clock.delay()}" {place}>{escape(text)}</text>'
