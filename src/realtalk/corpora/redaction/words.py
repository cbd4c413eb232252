"""Words that a capital letter does not make a person's name.

    "will" in COMMON         → a speaker called Will is replaced only where it is capitalised
    "paris" in NOT_PEOPLE    → never guessed to be somebody's name; "will" may be

Short on purpose: a word that is missing here costs a redacted text a word too many.
"""

from __future__ import annotations

__all__ = ["COMMON", "NOT_PEOPLE", "PARTICLES", "RELATIONS", "UNITS"]

# Parts of names that say nothing by themselves.
_PARTICLES = """
    da de del della den der di do dos du el la las le los van von zu bin ibn al abu the of and or
    with for from my mr mrs ms miss dr prof sir jr sr phd group chat person admin team work home
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
"""
# Everyday words that are first names too.
_BOTH = """
    amber angel april art ash august autumn bill bliss chance charity chase chip clay dawn daisy
    don dot drew earl eve faith fern forest frank gay gene grace grant gray guy harmony haven
    holly honey hope hunter iris ivy jack jay jean jewel josh joy june lane laurel lee lily love
    luck mark max may melody mercy miles misty moon olive pat patience pearl penny pop poppy
    precious rain ray rich river rob rock rocky rose ruby rusty sage sandy scarlet self serenity
    skip sky sonny star storm sue summer sunny violet will winter
"""
# Everyday words that are family names too.
_SURNAMES = """
    abbot baker ball banks bean bell berry bird bishop black bloom bridge bridges brook brooks brown
    bush carpenter carter cash cherry church cook cooper crane cross farmer field fields fish fisher
    ford fox frost gardener gold green hall hart hawk hill hood house hunt knight long marsh mason
    miller moss noble north page park parker pike pond pool porter potter power powers price reed
    rice rivers sharp shepherd short silver singer small smith snow song spring stone story street
    strong swan sweet swift temple turner walker waters weaver weeks west white wise wolf wood woods
    klein groß kurz lang jung frei schwarz weiß braun grün stark schön luz paz mar sol cruz flor rey
    blanco bueno delgado leal rico petit grand blanc marin bianco gallo costa
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
PARTICLES = frozenset(_PARTICLES.split())
COMMON = PARTICLES | frozenset(
    f"{_EVERYDAY} {_BOTH} {_SURNAMES} {_TIMES} {_PLACES} {_THINGS}".split()
)
NOT_PEOPLE = PARTICLES | frozenset(f"{_EVERYDAY} {_TIMES} {_PLACES} {_THINGS}".split())
