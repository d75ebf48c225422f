"""The Porter stemmer against its author's own examples (M. F. Porter, 1980), step by step."""

import pytest

from recollect.text.terms import stem

STEPS = {
    "1a": "caresses caress ponies poni ties ti caress caress cats cat",
    "1b": "feed feed agreed agre plastered plaster bled bled motoring motor sing sing",
    "1b, restored": (
        "conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz"
        " failing fail filing file fixing fix boxed box snowed snow played plai lying ly"
    ),
    "1c": "happy happi sky sky by by cry cry enjoy enjoi",
    "2": (
        "relational relat conditional condit rational ration valenci valenc hesitanci hesit digitizer digit"
        " conformabli conform radicalli radic differentli differ vileli vile analogousli analog"
        " vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis"
        " hopefulness hope callousness callous formaliti formal sensitiviti sensit sensibiliti sensibl"
    ),
    "3": (
        "triplicate triplic formative form formalize formal electriciti electr electrical electr hopeful hope"
        " goodness good"
    ),
    "4": (
        "revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop adjustable adjust"
        " defensible defens irritant irrit replacement replac adjustment adjust dependent depend adoption adopt"
        " homologou homolog communism commun activate activ angulariti angular homologous homolog effective effect"
        " bowdlerize bowdler champion champion"
    ),
    "5": "probate probat rate rate cease ceas controll control roll roll",
    "1b, then 4": "activated activ digitized digit agitating agit organizing organ adjustabled adjust",
    "letters": "a a is is us us naïve naïve b2b b2b don't don't syzygy syzygi yes ye oxen oxen queue queue",
}


@pytest.mark.parametrize(("step", "pairs"), STEPS.items())
def test_stems_are_porters_own(step: str, pairs: str) -> None:
    words = pairs.split()
    for word, expected in zip(words[::2], words[1::2], strict=True):
        assert stem(word) == expected, (step, word)
