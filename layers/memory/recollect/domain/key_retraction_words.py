"""The words by which a newer value of a key takes the one before it back, as patterns of `key_retractions` (P-24)."""

_DEVICE = r"(?:account|phone|laptop|keyboard|tablet|ipad|computer|mobile|login)"
_SOMEBODY = r"(?:(?:my|our|the|a|an|his|her) (?:[\w'-]{1,20} ){1,3}?|some(?:one|body)(?: else)? |\w{2,20} )"
_IN_FUN = r"(?:joke|prank|dare|bet|laugh|test|wind-?up|trick|hoax|gag)"
_UNTRUE = (
    r"(?:rubbish|garbage|nonsense|baloney|bogus|fiction|fantasy|fake|false|untrue|incorrect|inaccurate|invented"
    r"|made up|wrong(?! to\b)"
    r"|an? (?:\w+ )?(?:lie|exaggeration|overstatement|embellishment|invention|error|fib|typo|slip|mistake|mix-?up"
    rf"|misprint|misreading|guess|fabrication|misdiagnosis|misunderstanding|{_IN_FUN})|legend"
    r"|hearsay)"
)
SAYS_SO = (
    rf"\b(?:that|this|it)(?:'s| was| is) {_SOMEBODY}(?:typing|talking|writing|texting|speaking|posting|messing"
    r"|fooling|playing"
    rf"|pretending|who (?:typed|wrote|said|sent|posted)|(?:on|with|using) my {_DEVICE})\b",
    r"\b(?:typed|wrote|sent|said|posted|entered|told you|put) (?:that|it|this)(?: one| bit)? (?:as"
    rf"|for) a (?:\w+ )?{_IN_FUN}\b",
    r"\b(?:keep(?: on)?|stop|done|tired of|sick of) (?:lying|pretending|making (?:that|it|this|things) up)\b"
    r"(?! (?:on|in|down|around|awake|low|here|there)\b)",
    r"\bno more (?:lies|fibs|lying|pretending)\b",
    r"(?:\band|,) ?(?:(?:it|i|we|he|she|they|that|there) )?never (?:was|were|did|could|had|have|has|(?:have|has) been)"
    r"(?: one| any| there| so| either)?\s{0,3}(?:\Z|[.,;!])",
    r"\b(?:it|that|there) never (?:was|were|has been|had been|did)\b",
    r"\bnever (?:existed|happened)\b|\b(?:doesn't|does not|don't|do not) (?:even )?exist\b",
    r"\b(?:only|just) (?:dreamt|dreamed|imagined) (?:it|that|this)\b|\bno such (?:thing|person|place|limit|rule)\b"
    r"|\bnothing of the sort\b",
    r"\b(?:scrap|ignore|bin|forget|disregard|delete|scratch|strike|drop|unsee|erase) (?:(?:all |everything )?(?:what"
    r"|that|the bit"
    r"|the thing|the part|anything) (?:i|we) (?:\w+ )?(?:said|told|wrote|typed|claimed|mentioned)|me saying|my saying)",
    r"\b(?:strike|scratch|scrap|delete|ignore|drop|forget) (?:the|my) (?:\w+ ){1,3}(?:claim|thing|bit|part|comment"
    r"|remark|entry)\b",
    r"\b(?:bin|scrap|scratch|strike|unsay) (?:it|that|this)\b(?=\s{0,3}(?:\Z|[.,;!]))",
    r"\bi(?:'d| had) (?:only |just )?(?:been )?(?:misread|mixed|mixing|confused|confusing|squint\w+|miscounted|misheard"
    r"|mistaken|gone and read|looking at the wrong|looked at the wrong)",
    r"\byou (?:really|actually) (?:bought|believed|fell for) (?:that|it|the)\b",
    r"\bi (?:gave|told|sent) you[^.;!?]{0,20}? (?:isn't|is not|wasn't|was not|was never) mine\b",
    r"\bno idea where i (?:got|plucked|pulled|had)\b|\bpretend i never\b|\bjump(?:ed|ing) the gun\b",
)
"""What was said before is no value: it was a joke, somebody else wrote it, it never was."""
EXPLAINED = (
    r"\b(?:sorry|sry|soz|apologies|apols|apologi[sz]e)(?: again)?,? (?:for (?!lying|misleading|misinforming|that\b"
    r"|confusing|getting"
    r"|the (?:mix|conf|error|mistake|wrong|misinf|typo|lie))|to (?:hear|bother|ask|interrupt|say|trouble|disturb|be"
    r"|keep)"
    r"|about (?:the|your|being|my)|if |it took|i(?:'m| am|'ve been| was) (?:so |very |running )?(?:late|slow|away"
    r"|busy|off)"
    r"|(?:i|we) (?:missed|forgot|took|had to|have to|can't|couldn't))",
    r"\b(?:feel(?:s|ing)?|felt|am|is|are|'m|'re) (?:so |really |very )?sorry for\b|\bsorry (?:state|sight)\b",
    r"\bmade up (?:with|my mind|our minds?|of|for|the (?:bed|room|time|guest|spare))\b",
    r"\b(?:don't|do not|never|can't|cannot|won't|i|i'll|you) (?:ever )?forget\b|\bforget (?:about|it|the (?:old"
    r"|previous|former))\b",
    r"\bignore (?!(?:my|that|it|this|what|the (?:last|previous|above|bit|part|thing|message|first)|anything"
    r"|everything|me|all)\b)",
    r"\bignore the noise\b|\b(?:from|up to) scratch\b|\bscratch (?:card|the surface|post|and)\b|\bstrike(?: again"
    r"|\s?[.,!])",
    r"\bstrikes? (?!(?:that|it|this|what|out|the|my)\b)|\b(?:on|a|the|train|tube|bus|rail|bin|teachers'?) strike\b",
    r"\bmixed (?!(?:up|it|that|them|the|those|something)\b)|\bconfused (?:by|about|why|how|as to)\b"
    r"|\bi'm (?:so )?confused\b",
    r"\b(?:nothing|what's|what is|something(?:'s| is)?|anything|goes?|went|going|gone) wrong\b|\bwrong (?:with"
    r"|side of)\b",
    r"\b(?:no|not|isn't|wasn't|aren't|never|i'm not|stopped|practical|running|inside) (?:a )?(?:joke|joking|kidding"
    r"|my fault)\b",
    r"\bmy bad \w|\bfalse (?:alarm|start|teeth|ceiling|nails)\b|\bwipe (?:the|down|my|his|her|your)\b",
)
"""A word that may take something back, with what it is about instead: nothing that was said."""
OVER = (
    r"\b(?:any ?more|no longer|any longer|stopp?(?:ed|ing)?|quit|gave up|given up|now|nowadays|these days|since|yet"
    r"|currently"
    r"|at the moment|used to|from now on|last (?:week|month|year|night)|yesterday|ago|no more|done with|went off"
    r"|gone off)\b",
    r"\b(?:cancel\w*|sold|fired|sacked|died|left(?! to (?:me|us))|divorced|separated|broke up|ran out|closed|expired"
    r"|lost|gave"
    r"|resigned|ended"
    r"|finished|dropped|got rid|moved|switched|swapped to|changed to|became|retired|graduated|recovered|outgrew)\b",
)
"""It was so, and is over."""
ADMITS = (
    r"\b(?:is|was|were|got (?:it|that|this)) (?:all )?wrong\b(?! to\b)|\b(?:correct(?:ed|s)|misquoted"
    r"|misinformed) me\b|\bimpress\b",
    r"\bwrong (?:\w+ )?(?:number|box|button|one|way|line|column|row|form|field|name|month|day|date|year|page|file"
    r"|chart|person|patient)\b",
    r"\b(?:answered|filled|wrote|typed|replied|responded)\b[^.;!?]{0,25} for me\b|\b(?:lol|haha|hehe),? no\b"
    r"|\bplaying with (?:the|my)\b",
    r"\b(?:that|it|this)(?:'s| is| was) (?:(?:my|our|the|his|her|a) [\w' ]{0,30}(?:'s|s')\s|what the\b)|\b(?:that|it"
    r"|this)(?:'s| is| was)"
    r" (?:my|our) \w+'s\b",
    r"\b(?:own(?:ing)? up|com(?:e|ing) clean|admit(?:ting)?|confess(?:ion)?|straight with you|truth(?:ful)?|by accident"
    r"|accidentally|wires crossed|misprint|mistake|incorrect|untrue|confus\w{2,4}|mix(?:ed|ing) (?:it|that"
    r"|them|things|up)"
    r"|(?:looked|checked|read it) again|double[- ]checked|full disclosure|cards on the table|pretend\w{0,3}|rubbish"
    r"|garbage"
    r"|(?:other|wrong|different) (?:chat|thread|window|person|conversation)|slip|gag|testing|unfairly|phishing"
    r"|namesake|legend"
    rf"|(?:using|on|had|got|took|nicked|stole|grabbed|hijacked|borrowed|got hold of|hacked) (?:this|my) {_DEVICE}"
    r"|(?:sent|wrote|typed|said|posted|entered) (?:that|it|this)(?!'| is\b| was\b| would\b| will\b)"
    r"|why i (?:said|wrote|typed|claimed)|where (?:that|you) (?:came|got)|as (?:we|i) found out"
    r"|(?:test|kit|scan|results?|records?|paperwork|certificate|x-?ray) (?:says?|said|shows?|showed|came back"
    r"|confirmed)"
    r"|(?:don't|do not) (?:note|write|save|store|record|keep) that|(?:take|strike) (?:that|it) off|(?:remove"
    r"|delete) that"
    r"|made (?:it|that) up|never (?:said|claimed)|wishful|jok(?:e|ing)|kidding|prank|teasing|lie|lied|lying|fib"
    r"|fibbed|bluff\w{0,3}"
    r"|such)\b",
    r"\b(?:i|we)(?:'d|'ve| had| have| was| were| must have)?(?: only| just| actually| been| gone and| probably"
    r"| clearly){0,2}"
    r" (?:thinking|looking|reading|going by|thought|assum\w+|guess\w*|believed|figured|imagin\w+|dreamt|dreamed|read"
    r"|looked"
    r"|checked|squint\w+|copied|pasted|mis[a-z]{3,}|heard|counted|pretend\w*|test\w+|teas\w+|invent\w+|exaggerat\w+"
    r"|blam\w+"
    r"|applied|meant|wanted to (?:sound|look|seem|impress|see|fit|be)|rounded|overstat\w+|bragg\w+|remember\w*"
    r"|recall\w*"
    r"|jumped|typed|wrote|said(?! (?:no|yes|goodbye)\b)|told|entered|mixed|confus\w+)\b",
    r"\b(?:had |'d )?(?:swapped (?:the|my|our|two)|mixed up|misheard|misread|misprinted|mislabell?ed|mistyped"
    r"|autocorrected)\b",
)
"""Beside a denial: how what was not so came to be said."""
DENIES = (r"\b(?:no|not|never|none|neither|nor|nothing|nobody|dont|isnt|arent|havent|without|cannot)\b|n't\b",)
STANDS_FOR_IT = (r"\b(?:it|that|this|one|ones|there|any|so|either|such)\b",)
NEEDS_DENIAL = (r"\b(?:truth is|full disclosure|confession|cards on the table|come clean)\b",)
"""Admits something, and maybe only what has changed."""
WAS_NOT = (
    r"\b(?:belong(?:s|ed)|intended|meant|addressed) (?:to|for) (?:(?:some |an)?other|some(?:one|body)|a namesake"
    r"|the neighbours?)",
    r"\b(?:wasn't|weren't|was not|were not)(?! \w+(?:ed|en)\b)",
    r"\b(?:was|were) never\b|\bnever (?:was|were|had|been|owned|held|did|\w{2,}ed)\b",
)
CALLED_UNTRUE = (
    rf"(?P<what>(?:[\w.-]+ ){{1,6}})(?:is|was|were)(?: just| only| all| complete| total| pure| utter)? {_UNTRUE}\b",
)
"""With what is called so."""
NEVER_DONE = (r"\bnever (?:actually |really |even |ever )?(?P<verb>\w+)",)
