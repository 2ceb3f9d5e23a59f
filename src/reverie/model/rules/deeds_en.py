"""The English words for what is done: promises, events, decisions, procedures, lessons and standing orders.

Owns patterns only, matched in expanded lower case. Never decides by itself what is kept.
"""

from __future__ import annotations

from reverie.core.text.patterns import Words

_ADV = r"""(?:(?:really|also|still|now|usually|always|often|actually|currently|recently|finally|already|only
    |just|definitely|both|have|has|am|is|are|been|quite|all|do|does|officially|then|therefore
    |unanimously|mostly) )*"""
_OBJ = "(?! (?:it|this|that|these|those|them|you|your|how|what|when|where|if|so)\\b)"
_READY = (
    "(?:in|submitted|done|ready|delivered|paid|sent|finished|filed|renewed|signed|returned|out|live|shipped)"
)

# ---- promises, appointments, events
PROMISED = Words(
    rf"""{_ADV}(?:promised|agreed|committed|volunteered|vowed|gave my word|owe|owes|promise|promises
    |undertook) (?:to\b|that\b|\w+ (?:to|that|a|an|the|i|we|he|she|they|my)\b|[a-z]+ \d|my|a\b)"""
)
WILL = Words(
    rf"""{_ADV}(?:will|shall|going to|have to|has to|had to|need to|needs to|must|should|ought to
    |supposed to|(?:said|confirmed|says|told me) (?:that )?(?:he|she|they|it) (?:will|would)
    |said (?:he|she|they) (?:is|are) going to) (?!be (?:back|fine|ok|right|great|there in|in|at|on
    |away|off|out)\b|not be\b)\w"""
)
VOWS = Words(rf"{_ADV}(?:will|must|have to) \w")
EPHEMERAL = Words(
    rf"""{_ADV}(?:will|going to|have to|need to|should|must|did|was|had|got|went|slept
    |am)? ?(?:let you know|get back to you|tell you|ping you|be back|be tired|talk to you|chat|ask you
    |think about|see (?:what|how|if)|continue (?:this|tomorrow|later)|try (?:it|that|this|again)
    |look at (?:it|this|that)|check (?:it|this|that)|do (?:it|that|this)|go to (?:bed|sleep)|sleep
    |slept|ate|eat (?:lunch|dinner|breakfast)|had (?:lunch|coffee|breakfast|a (?:long|good|bad|busy
    |great|nice|rough) (?:day|week|night|weekend))|tired|exhausted|asked you|told you|said|mentioned
    |talked about|saw your|thought|felt|wondered|a bit|wake up|autocorrect|noticed|been (?:working
    |trying|thinking))\b"""
)
DEADLINE = Words(
    rf"""\b(?:deadline|is due|are due|due (?:on|by|date)|(?:must|needs? to|has to
    |have to) be (?:\w+ )?{_READY}|expires?|cut-?off)\b"""
)
APPOINTMENT = Words(
    rf"""{_ADV}(?:in|at|have|has|got|booked|scheduled|made|am seeing|seeing|meeting|visiting|flying
    |travel+ing|going|leaving|returning|coming|arriving|starting|presenting|giving|hosting|attending
    |getting|moving|off|away|out of (?:the )?office|on (?:vacation|holiday|leave)|taking|running
    |having|celebrating|playing|interviewing|driving|joining|start|starts|arrives|leaves|lands|fly
    |flies|leave|comes|visits|turns|gets married|picking up|will (?:(?:not )?be (?:in|at|on|away|off
    |out|available|travel+ing|visiting|flying)|arrive|visit|start|leave|fly|come|meet|move))\b{_OBJ}"""
)
HAPPENS = Words(
    rf"""{_ADV}(?:is|are|starts?|begins?|takes place|happens|leaves|departs|arrives|lands|ends|opens|closes
    |will be|will start|will take place|moved to|has moved|goes live|ships|gets in
    |(?:was|were|got|has been|have been) (?:moved|(?:re)?scheduled|postponed|pushed|delayed|put off
    |brought forward)|expires|renews|falls on|comes)\b"""
)
BROKE = Words(rf"""{_ADV}(?:was (?:down|out|offline|unreachable|hacked|stolen|cancel+ed)|crashed|failed|went down
    |broke(?: down)?|ran out|leaked|lost|stopped working|went live|shipped|launched)\b""")
DATE_IS = Words(r"(?:on )?\d{4}-\d\d(?:-\d\d)?(?: \d\d:\d\d)? is (?:my|our|the) \w")
DID = Words(
    rf"""{_ADV}(?!(?:got me|got us|wanted|needed|used to|tried|asked|looked|noticed|liked|wondered|supposed
    |seemed|talked about|based|loved|enjoyed|completely|excited|interested)\b)(?:\w{{2,}}ed|went|got
    |made|took|bought|found|met|left|lost|won|sold|came|began|became|broke|built|chose|drove|flew|gave
    |held|led|paid|ran|rode|sent|shipped|spent|spoke|swam|taught|threw|wrote|brought|caught|quit
    |had (?:an?|my|our|the|dinner with|lunch with)|did (?:a|my|our|the)|was (?:in|at|promoted|born
    |diagnosed|hired|elected|accepted|invited|admitted)|were (?:in|at)|saw (?:a|an|the|my)
    |visited)\b{_OBJ}"""
)
TIDINGS = Words(  # what is heard or done beforehand of a thing to come
    rf"""{_ADV}(?:got|received|bought|booked|reserved|ordered|won|sent|gave|(?:was|were|been) (?:invited|assigned|given
    |offered|sent|called|summoned|referred|accepted|selected|chosen|granted|moved|transferred)|invited|assigned
    |enrol+ed|signed(?: \w+){{0,2}}? up|registered|made|accepted|planned|arranged|scheduled|set up|moved|postponed
    |rescheduled|pushed|extended|confirmed)\b{_OBJ}"""
)
MILESTONE = Words(
    rf"""{_ADV}(?:got (?:married|engaged|promoted|divorced|the (?:job|offer|visa|keys?|grant)|accepted
    |my (?:\w+ )?(?:visa|passport|degree|license|licence))|graduated|adopted (?:a|an|two)|launched
    |released|passed (?:the|my)|finished (?:the|my) (?:marathon|degree|thesis|book|course|phd)
    |bought (?:a|an|our|my first) (?:house|flat|car|apartment|bike|van|boat|piano|guitar)|won (?:a
    |the)|was diagnosed|had (?:a baby|surgery)|signed (?:the|a) (?:lease|contract)|handed in|was born
    |passed away|died|broke (?:my|his|her) \w+)\b"""
)
NAMED = Words(
    r"""I am (?P<name>[A-Z][a-zà-ÿ'’-]+(?: [A-Z][a-zà-ÿ'’-]+)?)(?=$|[.!]| from [A-Z]| from the [A-Z]| here\b)"""
)
CALLED = Words(
    r"(?:[Ee]very(?:one|body)|(?:[Mm]y |[Mm]ost )?(?:[Ff]riends|[Pp]eople|[Cc]olleagues)) calls? me [A-Z]\w+"
)
NO_NAMES = frozenset(
    r"""english german french spanish italian portuguese dutch polish russian turkish arabic chinese
    mandarin cantonese japanese korean hindi swedish danish norwegian finnish greek czech hebrew ukrainian
    vietnamese thai american canadian british scottish irish welsh australian indian mexican brazilian
    argentinian egyptian african european asian catholic christian muslim jewish buddhist hindu protestant
    republican democrat swiss belgian austrian hungarian romanian bulgarian serbian croatian israeli
    iranian iraqi pakistani nigerian kenyan filipino malaysian indonesian ok okay sorry fine done back
    sure vegan vegetarian diabetic monday tuesday wednesday thursday friday saturday sunday slovak
    slovenian albanian estonian latvian lithuanian icelandic maltese persian kurdish latino latina
    hispanic""".split()
)
FULFILLED = Words(
    rf"""{_ADV}(?:sent|handed in|turned in|submitted|paid|booked|renewed|signed|delivered|returned|filed|mailed
    |e-?mailed|posted|cancel+ed|called|picked up|ordered|transferred|uploaded|registered|applied for)\b{_OBJ}
    (?! (?:in|by|off|out|for|up|and)\b)"""
)
BARE = Words(
    r"""(?:sent|handed in|finished|booked|bought|signed|shipped|released|met|called|paid|merged|deployed
    |fixed|moved|cancel+ed|submitted|ordered|renewed|passed|published|launched|sold|visited|started
    |quit|joined|left|got|picked up|migrated|upgraded|switched|rotated|replaced|renamed
    |removed) (?!it\b|this\b|that\b|them\b|you\b|with\b|by\b|to\b)\S"""
)

# ---- decisions, procedures, lessons
_CHOICE = r"""(?:go with|use|stick (?:with|to)|switch (?:to|from)|drop|keep|adopt|move (?:to|from)|migrate to
    |replace|standardi[sz]e on|settle on|call (?:it|the)|name (?:it|the)|target|ship|store|host|deploy
    |postpone|cancel|skip|rename|pin|avoid|do (?!it|that|this))"""
LETS = Words(rf"""(?P<head>let us (?:(?P<not>not) )?)(?:finally |definitely |just )?{_CHOICE}\b(?! (?:it|this|that
    |these|them)$) ?\S""")
DECIDED = Words(
    rf"""(?:(?:after [^,]{{3,80}}, )?(?:i|we|the team|my team|our team|[a-z]+ and i
    |my \w+ and i) {_ADV}(?:decided|agreed (?:to|on|that)|settled on|chose|chosen|opted (?:for|to)
    |picked|made (?:a|the|our) decision|resolved to|ruled out|voted (?:to|for)|signed off on)\b|(?:i
    |we) (?:are |am )?{_ADV}(?:going (?:to )?(?:go )?with|go with|going to (?:use|switch to|adopt|drop
    |migrate)|will (?:go with|use|stick (?:with|to)|switch to|adopt|drop|standardi[sz]e)|switching to
    |sticking (?:with|to)|dropping|adopting|standardi[sz]ing on|abandoning)\b
    |(?:the )?(?:final )?(?:decision|verdict)(?: (?:is|was))?[:,]? \S|it (?:is|has been) (?:decided
    |settled|agreed) that\b|decided[:,]? \S)"""
)
IT_IS = Words(r"(?!(?:what|how|that|this|so|there|here|i|it|yes|no)\b).{4,80} it is(?: then)?[.!]*$")
POINTS = Words(
    r"""\b(?:decided|agreed|picked|chose|settled on|going with|go with|use|keep|drop|stick with|store
    |move to) (?:it|this|that|these|them|those|you|your|the (?:first|second|third|last|other|one
    |option|same)|option|to (?:ask|talk|wait|try|check|see|look)\b|number)\b|\boption \w$"""
)
_DO = r"""(?:run|execute|call|use|do|type|enter|press|click|open|start|restart|stop|set|export|install|build
    |check|check out|pull|push|tag|merge|rebase|bump|update|clear|delete|remove|copy|edit|add|create
    |apply|make|ssh|log in|go to|back up|first|just|simply|source|unset|kill|flush|rotate|load|warm
    |wait|ask|restore|revert|roll back|migrate|drain|mount|scale|put|take|send|generate|regenerate|git
    |docker|npm|pip|make|kubectl|`)"""
PROCEDURES = (
    Words(
        r"""(?:before|after|when|whenever|if|every time|each time|once) [^,:`]{3,110}, (?:you |we |then |please |just )?
        (?!i\b|we\b|you\b|it\b|the\b|there\b|they\b|he\b|she\b|what\b|why\b|how\b|can\b|could\b|is\b)
        [a-z]+ [^,?]{0,60}`[^`]+`"""
    ),
    Words(
        rf"""(?:in order )?to (?!be\b|me\b|my\b|you\b|the\b|that\b|this\b|answer|summari|clarify
        |recap)\w+[^,:]{{0,90}}(?:,
        |:) ?(?:you |we |i |one )?
        (?:always |must |should |need to |have to |can |first |just |simply |usually )*{_DO}"""
    ),
    Words(rf"""(?:always |remember to |make sure to |first,? )?{_DO}\b[^.]{{2,160}}\b(?:before|after|whenever
        |when|every time|each time|to|then)\b"""),
    Words(
        rf"""(?:before|after|when|whenever|if|every time|each time|once|for) [^,:]{{3,110}}(?:,
        |:) ?(?:you |we |i |then )?(?:always |must |should |need to |have to |first |just )*{_DO}"""
    ),
    Words(
        r"""(?:the (?:way|steps?|procedure|process|recipe|command|routine|trick|drill) (?:to|for)
        |here is how|this is how|how to|steps (?:to|for)|how (?:we|i)|our (?:\w+ )?(?:process
        |procedure|routine|checklist|runbook)|(?:\w+ ){1,3}(?:checklist|procedure|runbook|steps
        |process|routine))\b.{3,}"""
    ),
    Words(r"""(?:i|we|you) (?:always |usually |normally )?(?:deploy|release|restore|reset|rebuild|restart
        |publish|back up|roll back|start|test|install|update)\w* [^,]{0,60}\b(?:by|with|using|via)\b"""),
    Words(
        r"""(?:the |our )?(?:deploy\w*|releases?|rollbacks?|backups?|tests?|migrations?|docs
        |restores?) (?:\w+ ){0,3}(?:run|runs|is done|are done|is run|are run|works?|start|starts|go
        |goes) (?:with|by|via|through)\b"""
    ),
    Words(r"""(?:the |our )?(?:nightly |daily |weekly )?(?:deploy\w*|releases?|rollbacks?|backups?|restores?
        |migrations?)(?: \w+){0,4}: .*(?:every|then|keep|copy|,)"""),
)
INTRODUCES = Words(
    r"""\b(?:(?:how|steps|procedure|process|recipe|checklist|routine|runbook|instructions)\b[^.!?]{0,70}
    |to (?!be\b)[a-z]+\b[^.]{0,60}|(?:before|after|when|whenever) [^.]{0,60}|(?:run|do|use|commands?
    |this order|as follows)) ?:$"""
)
PROCEDURAL = Words(
    rf"""{_DO}\b.*`[^`]+`|\b(?:before|after) (?:each|every|any|a|the|you|we|deploy\w*|releas\w*|merg\w*
    |commit\w*|push\w*)\b.*`|`.*\b(?:before|after)\b"""
)
STEPS = Words(
    r"""\b(?:first|1[.)]).*\b(?:then|next|finally|after that|2[.)])|,? then (?:run|restart|wait|push|tag
    |merge|check|deploy|let|bake|add|send|put|press|open|turn|rinse|[a-z]+ the)\b|: .*;.*;|->|→"""
)
LESSON = Words(
    r"""(?:(?:the )?(?:lesson|takeaway|moral)(?: (?:learned|learnt|here|from \w[\w ]{0,40}
    |of the story))?(?: is)?(?: that)?[:,]? \S|note to self|never again\b|(?:i
    |we) (?:have )?(?:finally |also )?(?:learned|learnt)[ ](?:that|the hard way|to\b|from)
    |(?:it )?turns out(?: that)?[:,]? (?!you|it (?:is|was) (?:fine|ok))
    |turned out(?: that)? |it turned out |the (?:root )?cause (?:was|is|of)\b|(?:the|what) (?:fix
    |solution|culprit|problem|trick|workaround) (?:was|turned out)\b|what (?:fixed|solved|helped)\b
    |next time,? (?:i|we|remember|do not|always|never|let us)|in hindsight|(?:i|we) should have \w+
    |(?:i|we) (?:found|figured) out that|(?:i|we) (?:realized|realised|discovered) that)"""
)
# What an agent does in its answers, of which "no more" asks it; of anything else nobody is asked.
_HABITS = r"""(?:[\w-]+ )?(?:emojis?|emoticons?|smileys?|apolog\w+|summar\w+|recaps?|questions?|disclaimers?|caveats?
    |bullets?|bullet points?|lists?|tables?|headings?|headers?|exclamation (?:marks?|points?)|jokes?|puns?|filler\w*
    |small talk|greetings?|flattery|compliments?|praise|hedging|jargon|suggestions?|repetitions?|explanations?|markdown
    |bold|italics|(?:em )?dashes|follow-?ups?|comments|answers|replies|walls of text)"""
STANDING = Words(
    rf"""(?P<lead>(?:(?:so|and|please|also|ok|then),? )*)(?:(?:from now on|going forward|in (?:the )?future
    |from here on|for all future \w+|as a rule|by default)[,:]? (?!i\b|we\b|my\b)\w|(?:always
    |never) (?!mind|again|ever|have|had|been|be\b|a\b|the\b|the less|ending|here|there|happy|give up
    |too|so\b|in\b|on\b|gonna|going)[a-z]+ \S|(?:whenever|every time|each time|when) (?:you
    |i) [^,]{{3,60}}, (?:please |always |never |do not )\w|(?:i (?:want|expect|need|would like
    |would prefer|prefer) you to) (?:always|never|only|stop|keep)\b|do not ever \w|you (?:should
    |must) (?:always|never)\b|(?:do not|stop|no {_HABITS}|only|keep|use|answer|call|write)\b.{{0,80}}\b(?:anymore
    |any more|ever again|in (?:the )?future|from now on|going forward)\b|call me
    (?! (?:later|back|maybe|when|if|tomorrow|tonight|today|at|on|in|after|before|as|by|for|crazy|old
    |an?|the|it)\b) \w+|no more {_HABITS}(?=[.!]*$|,? (?:please|ever|from now on|in|at|when|with|unless|after|thanks?
    |and)\b)
    |(?:do not|never|avoid|stop|only|always)\b.{{2,80}}\b(?:when(?:ever)?|if) you (?:answer|reply|respond|write|talk
    |explain|code|summari[sz]e)\b|(?:do not|never|avoid|no)\b.{{2,60}}\bin your (?:\w+ )?(?:answers?|replies
    |responses?|messages?|summaries|code)\b)"""
)

# ---- the agent's own turns
AGENT_MAY = Words(  # a word with which one of its clauses begins that states something
    r"""\b(?:i|we|decision|agreed|decided|deployed|released?|merged|migration|deployment|upgrade|rollback|restore)\b"""
)
RESULT = Words(
    r"""(?:i (?:have )?(?:just |now |also |already |successfully )?(?:deployed|released|published|merged
    |scheduled|booked|created|migrated|renamed|upgraded|configured|installed|moved|restored
    |rolled back|tagged|pushed|reserved|ordered|cancel+ed|backed up|fixed|enabled|disabled|rotated
    |sent|filed|opened|closed|switched|replaced|registered|submitted|shipped)\b|(?:deployed|released
    |merged|migration|deployment|release|upgrade|rollback|restore) (?:finished|completed|done
    |succeeded|is (?:live|done|complete)|went through|v?\d|to\b))"""
)
AGENT_DECIDED = Words(
    rf"""(?:so )?(?:we {_ADV}(?:decided|agreed|settled|chose)\b|(?:decision|agreed|decided)[:,] \S
    |we (?:are going to|will) (?:go with|stick with|switch to|keep)\b|we are (?:going with
    |sticking with|switching to)\b)"""
)
AGENT_WILL = Words(r"""(?:and )?i (?:will|am going to|promise|have (?:set|scheduled) (?:a|the) reminder|am scheduling
    |plan to|shall|commit to)\b""")
AGENT_EPHEMERAL = Words(
    r"""i (?:will|am going to|shall) (?:\w+ )?(?:remember|keep (?:that|this) in mind|note|let you
    |be (?:here|happy|glad|able)|try|assume|need|explain|walk|help|show (?!you the)|take (?:that|note)
    |not be|provide|use (?:this|that|the)|start (?:with|by)|wait|do (?:that|this|it) now)\b"""
)
AGENT_LASTING = Words(
    r"""\b(?:from now on|going forward|every (?:\w+day|day|morning|evening|week|month|night|time)
    |each (?:week|month|morning|day)|promise|remind you)\b"""
)
