"""Words that a capital letter does not make a person's name.

    "will" in EVERYDAY       → a speaker called Will is replaced where it is capitalised, or where
                               a name stands ("hey will"); "rose" and "mark" always are
    "care" in NO_FORM        → no Italian form of Caro, and "the" is not short for Theo
    "paris" in NOT_PEOPLE    → never guessed to be somebody's name

Short on purpose: a word that is missing here costs a redacted text a word too many.
"""

from __future__ import annotations

from realtalk.corpora.redaction.folding import fold

__all__ = [
    "EVERYDAY",
    "GREETINGS",
    "LINKS",
    "NOBLE",
    "NOT_PEOPLE",
    "NO_FORM",
    "RELATIONS",
    "TITLES",
    "UNITS",
]

# Small words inside names; where the name writes them with a capital ("Nguyen Van An"), they count.
_NOBLE = "da de del della den der di do dos du el la las le los van von zu bin ibn al abu"
_LINKS = f"{_NOBLE} the of and or with for from my y e und et"
# What stands before a name, or instead of one, and is none.
_TITLES = """
    mr mrs ms miss dr prof sir jr sr phd group chat person admin team work home user guest member
    speaker participant anonymous unknown bot
    aunt auntie bro brother cousin dad daddy father gran grandma grandpa granny mama mom mommy
    mother mum mummy nana papa sis sister uncle wife husband boss
"""
_EVERYDAY = """
    a about after again all also always am an any are as at baby back bad be because been both boy
    but by bye can come could day did do does done each early even ever every few friend from get
    girl give go god good great had happy has have he hello her here hey hi him his home how i if
    in is it its job just kid kind last like little me mine more morning much new nice night no not
    now off oh ok okay old on one other our out over please really red say see she should so some
    sorry still such sure thanks that their them then there these they think this time to today
    too true up us very want was way we well were what when where which who why win woman would
    wow yeah year yes yet you young your all everybody everyone folks guys team world darling dear
    sweetheart sweetie honey babe haha hahaha lol omg dude buddy lady lord king queen prince
    same times might maybe must shall will may else only than though through under until while
    with without into
"""
# The small words of other languages that are nobody's name.
_ELSEWHERE = """
    ab aber alle als auch auf aus bin bis da das dass dein dem den der des die dir doch du ein
    eine er es für gar ganz gut hab hat hier ich ihm ihr im ist ja jetzt kann kein man mehr mein
    mich mit nach nein nicht noch nur ob oder ohne schon sein sehr sich sie sind und uns vom von
    vor war weil wenn wer wie wir wo zu zum zur mal hallo danke morgen heute algo ante así aún
    bien como con cuando dar del desde donde el en era ese eso está este esto fue gran hay hola
    hoy las les los más mis mucho muy nos otra para pero poco por porque que qué quien se sea
    ser si sí sobre sus también te tener ti tiene todo tres tu un uno va vez ya yo au aux avec
    ça car ce ces cet chez comme dans de dit donc est et été eux faire fait fut il ils je la le
    leur lui mais mes moi mon ne non notre nous ont ou où par pas peu plus pour qu qui sans ses
    soi sont sous sur tes toi ton tout tous très une vers vos votre vous allo anche che chi ci
    cosa dal dalla dei della di dove e è fa gli loro mio molto nel o per però più poi quando
    quel questa questo sono sul tra tua voi ao aos até com dele dos ele em essa esse foi isso já
    lhe mas meu minha muito não nas nem num os pela pelo qual sem seu só sua também tem um vai
    você aan bij dat deze door dus een geen haar heb heeft hem het hij hoe ik kon maar meer met
    mijn naar niet nog nu om ons ook op tot uit van veel voor waar wat wel wij ze zij zo att av
    det ett hon jag med mig och på sig som ei ikke og jeg ble til ved har nej nei men czy jak
    już mnie nie od po się są tak tylko w z za że ale jsem už bir bu çok daha değil evet gibi
    hayır için ile iyi olan şu ve yok itu ini dengan ke yang saya kamu mau
"""
# Words that a name with an ending, or its beginning, may happen to spell: Sam and "same".
_FREQUENT = """
    within away down onto upon between during before below above almost already around best
    better big bring call came care case date door eat end enough face far feel felt find fine
    first food full fun game gave gone got half hand hard head hear heard help hold hot hour
    house idea keep kept knew know late later left less let life line live long look lost lot
    made make man many mean men met mind miss mom money month most move name near need next none
    nor nothing number often open own part people per pick place plan play put quite ran read
    ready real rest right room said sat saw school seen self send sent set shop show side sit
    sleep soon sound start stay step stop story take talk tea tell ten test text thank thing
    three throw till top town tried try turn two use used wait walk war wear week went wet whole
    whose wine wish word wore work worth write wrong add age ago air ant arm art ask bag bar bat
    bed bet bin bit box bus buy cap car cat con cow cry cup cut dam den dig dog dry due ear egg
    eye fan fat fed fee fin fit fix fly for gas gin gun guy ham hat hen hid hip hit ice ill ink
    jam jar jet joy key kin kit lab lap law lay led leg lie lip log low mad map mat mud nap net
    nod nut oak odd oil ore pan par pay pen pet pie pig pin pit pot pro ram rat raw rid rip row
    rub run sad sea sew sin sip six ski son sum sun tab tag tan tap tar tax tie tin tip toe ton
    toy van via wax web wed wit won zip zoo ah aha eh er ha hm hmm huh mm oi oo ooh ow uh um ya
    yo yay yep nah nope ouch aw aww ew tv pc cd dj ai ay lo op re ex ho ma na su ta li al vi ni
    mi una ella samba tome bend bent robe robot robin dance pate vale suet salt sale salon halt
    hale lean lout loud melt kite kent alike alien beat bean beats cheat linen lines mint belt
    cold cola dome gene sole solo vice west tiny tine pole polo core nine mini huge bore deny
    denim rite rites mile miles mono petty rosy dote dots debt guys arts cats camera cameras
    camping rather bread breath fathers others mate mates pens penis marine marina mars mary
    market marriage sandy sands candy cane dates dated fined lined mailed maria timed tired
    wille wills willing willen chat chats char chart chance change charge mark marks marker hero
    heroes karma carbon cabin jeans jeanne pain pains paint maine main mains mason nation native
    alas also alone along elite eden even event events evens evil alle aller allen alert angel
    angels annual anniversary theory theme then these thesis they those toma tomato tons tone
    toned tones tomb rayon martin marble margin bella bells belle billing bills bill roses lily
    lilies hope hopes hoped hoping bell belly
"""
_TIMES = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december jan feb mar apr jun jul aug sep sept oct nov
    dec mon tue tues wed thu thur thurs fri sat sun christmas easter halloween thanksgiving xmas
    hanukkah diwali eid ramadan valentine valentines new years eve
"""
_PLACES = """
    africa african america american angeles arabic asia asian australia australian austria bali
    barcelona bay beach berlin boston brazil brazilian britain british brooklyn california canada
    canadian caribbean chicago china chinese city coast colorado dallas denver dubai dutch east
    egypt england english europe european florida france francisco french german germany greece
    greek hawaii hollywood houston india indian ireland irish island islands istanbul italian
    italy japan japanese jersey korea korean lake latin london los madrid manhattan melbourne
    mexican mexico miami milan montreal moscow mountain munich netherlands north norway orleans
    paris park poland polish portland portugal portuguese rome russia russian san scotland seattle
    seoul south spain spanish square states street sweden swedish swiss switzerland sydney texas
    thai thailand tokyo toronto turkey turkish uk united usa valley vegas vienna vietnam wales
    washington west york bible buddhist catholic christian hindu islamic jewish muslim quran
"""
_THINGS = """
    airbnb alexa amazon android chatgpt siri
    apple bluetooth bowl church college covid discord disney dvd ebay email
    excel facebook ferrari fifa file gmail google handle hbo hospital hulu ikea image imdb insta
    instagram internet ipad iphone kindle lego link linkedin mac marvel mcdonald mcdonalds message
    messenger microsoft minecraft mri nasa nba netflix nfl nike nintendo number olympics paypal pdf
    phone photo pinterest playstation pokemon python reddit samsung school signal skype slack
    snapchat sony spotify starbucks steam super telegram tesla tiktok tinder tv twitch twitter uber
    university venmo video walmart whatsapp wifi wikipedia windows xbox yoga youtube zoom
"""
# "my colleague Zoltan": what stands before a name and before little else.
_RELATIONS = """
    aunt boss boyfriend brother buddy coach colleague cousin coworker dad daughter father fiancé
    fiancée flatmate friend girlfriend grandma grandpa husband landlord mate mom mother mum nephew
    neighbor neighbour niece partner roommate sister son stepdad stepmom teacher therapist uncle
    wife
"""
RELATIONS = frozenset(_RELATIONS.split())
GREETINGS = frozenset(("bye", "dear", "goodnight", "hello", "hey", "hi", "morning", "thanks", "yo"))
# What follows a number that counts: such a number names nobody.
_COUNTED = """
    eur euro euros usd dollar dollars dólares bucks pound pounds gbp chf franken yen won baht
    rupee rupees kr kronor kroner zł lei lakh crore mio million k steps schritte pasos pas people
    persons personas personnes leute menschen km kms miles meter meters metres m kg g grams
    calories kcal words wörter views followers subscribers likes messages nachrichten pages lines
    users points rows votes copies hours minutes mins seconds years days feet ft acres tons tonnes
    litres liters ml kb mb gb tb hz rpm
"""
UNITS = "|".join(_COUNTED.split())
TITLES = frozenset(_TITLES.split())
NOBLE = frozenset(_NOBLE.split())
LINKS = frozenset(_LINKS.split())
EVERYDAY = (
    TITLES
    | (LINKS - {"al", "abu", "ibn"})
    | frozenset(map(fold, f"{_EVERYDAY} {_ELSEWHERE}".split()))
)
NO_FORM = EVERYDAY | frozenset(f"{_FREQUENT} {_PLACES} {_THINGS}".split())
NOT_PEOPLE = TITLES | LINKS | frozenset(f"{_EVERYDAY} {_TIMES} {_PLACES} {_THINGS}".split())
