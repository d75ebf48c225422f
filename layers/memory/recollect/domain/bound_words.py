"""The words of bounds in time, as fragments of patterns; all of lower-case text with plain apostrophes (P-24)."""

_COUNT = r"\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
N = (
    rf"(?:(?:{_COUNT}) ?(?:-|\u2013|to|or) ?)?(?P<n>{_COUNT}|(?:a )?couple(?: of)?|(?:a )?few|several|half an?)"
    r"(?: more| further| additional| whole| full| solid| or so)?"
)
LENGTH_UNIT = r"(?P<unit>hour|hr(?=s)|h|day|night|week|wk|weekend|fortnight|month|mth|year|yr)s?(?![\w/])"
LENGTH = rf"{N}(?: |(?<=\d)){LENGTH_UNIT}(?P<more_or_less> or two)?(?P<half> and a half)?"
MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_NAMED_PLACE = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
DAY = rf"(?P<day>\d{{1,2}}(?=st|nd|rd|th|\b)|{_NAMED_PLACE})(?:st|nd|rd|th)?"
ORDINAL = r"(?P<day>\d{1,2})(?:st|nd|rd|th)"
YEAR = r"(?:,? (?P<year>\d{4}))?"
UNTIL = (
    r"(?:(?:up to|up till|up until|until|till|to) and including|until|till|til|'til|through|thru|up to|up until|up till"
    r"|ending|ends)"
)
WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?|sat(?:urday)?|"
    r"sun(?:day)?)"
)  # fmt: skip
END_OF = r"(?:the )?(?:very |back )?(?:end|close|last day|last week) of (?:the |this )?"
UNIT = r"(?P<unit>week|weekend|workweek|month|year|quarter|spring|summer|fall|autumn|winter|semester|term)"
FEAST = (
    r"(?P<feast>easter(?: sunday| monday)?|christmas(?: eve| day)?|new year(?:'?s)?(?: day| eve)?|xmas|halloween"
    r"|boxing day|thanksgiving|valentine'?s(?: day)?|st patrick'?s(?: day)?)"
)
TIME = (
    r"(?:\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?)?|noon|midday|midnight|lunch(?:time)?|dinner(?:time)?|sunset|dawn"
    r"|close of (?:business|play)|end of (?:business|play|day)|cob|eob|eod|first thing|late|early|some ?time"
    r"|(?:the )?(?:morning|afternoon|evening|night)(?: of)?|at least|well into|the end of)"
)
HOUR = (
    r"(?:(?:half|quarter|ten|twenty|five)(?: past| to)? )?(?:\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\.?|o'clock)?|one|two"
    r"|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|noon|midday|midnight|lunch(?:time)?|dinner(?:time)?|bedtime)"
)
PART = r"(?: ?(?:morning|lunchtime|noon|midday|afternoon|evening|night|at noon|at midnight))?"
BEHIND_UNIT = (
    r"\s{0,3}(?:\Z|[^\w\s]|(?:and|so|but|because|while|since|as|i|we|i'm|we're|my|our|the|he|she|it|they|there|only"
    r"|at|in"
    r"|from|with|on|for|instead|please|to|too|due|until|though|thanks|no|not|or|then|just|by|off|is out|is over|is up"
    r"|is done|ends|not|after|when|where|again|comes|you|your|his|her)\b)"
)
CLAUSE_END = r"\s{0,3}(?:\Z|[.,;:!?)\u2013\u2014-]|(?:and|so|but|because|while|since|as|then|until|though|thanks)\b)"
JUST = r"(?:just |only |but only )?"
NO_BEGINNING = (
    r"(?<!since )(?<!from )(?<!as of )(?<!starting )(?<!beginning )(?<!by )(?<!before )(?<!after )(?<!of )(?<!due )"
    r"(?<!later )(?<!earlier )"
)
"""Before a span that is named: there it begins, or something else than a value is meant."""
NO_VERB_OF_BEING = r"(?<! is )(?<!'s )(?<! are )(?<!'re )(?<! was )(?<! be )"
"""Before a day at the end of a sentence: "the concert is tonight" says when, and bounds nothing."""
