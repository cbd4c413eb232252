"""Where somebody lives, as people write it: streets with a number, postcodes, coordinates.

    "14 Willow Street, flat 3B" · "Gartenstr. 12a" · "12 rue des Lilas" · "Calle Luna 4"
    "SW1A 1AA" · "52.52001, 13.40495"                    → one <address-…> each

Without a number a street is a place like any other and stays. The patterns are written for
`re.VERBOSE` and no flag besides: capital letters are half of what tells a street's name.
Lengths are bounded, so that a text of 20,000 hyphens is read as fast as any other.
"""

from __future__ import annotations

_NAME = r"[A-ZÀ-ÖØ-ÞА-Я][\w'’-]{1,30}"
# "12a", and "12 a" where nothing goes on: "Calle Luna 4 y luego" has no house 4 y.
_NUMBER = (
    r"\d{1,4}(?:[a-zA-Z]|[ ][a-zA-Z](?=[ ]*(?:$|[,.;:)\n])))?\b(?:[ ]?[-/][ ]?\d{1,4}[a-zA-Z]?\b)?"
)
_ENGLISH = (
    "Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Crescent|Terrace|"
    "Close|Gardens|Grove|Mews|Highway|Hwy|Parkway|Pkwy|Way|Place|Square|Row"
)
# Grown together with the name in German, Dutch and the Nordic languages.
_GROWN = (
    "straße|strasse|str\\.|gasse|allee|platz|weg|damm|chaussee|straat|laan|gracht|plein|dreef|"
    "gatan|vägen|gata|vej|veien|katu"
)
_APART = "Straße|Strasse|Str\\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer"
_BEFORE = (
    "[Cc]alle|C/|[Aa]venida|[Aa]vda\\.?|[Aa]v\\.|Plaza|Paseo|Carrer|[Rr]ua|Travessa|Praça|Via|"
    "Viale|Piazza|Corso|[Uu]l\\.|ulica|[Уу]л\\.|улица|Straße[ ]des|Straße[ ]der"
)
_FRENCH = "rue|avenue|av\\.|boulevard|bd|place|chemin|allée|impasse|quai|route|cours"
_OF = r"(?:(?:de|del|della|dei|di|do|da|dos|das|du|des|la|las|los|le|les|of|the)[ ]|d['’]|l['’])*"
_FLAT = r"(?:,?[ ](?:apt|apartment|flat|unit|suite|\#)\.?[ ]?\w{1,5}\b)?"

ADDRESS = rf"""
    (?<![\w.]) \d{{1,5}}[A-Za-z]?,?[ ] (?: {_NAME}[ ] ){{1,3}} (?:{_ENGLISH}) \b \.? (?i:{_FLAT})
  | (?<!\w) (?: {_NAME}[ ] )? [A-ZÀ-ÖØ-Þ][\w-]{{0,40}}? (?: {_GROWN} | -(?:{_APART}) )
        [ ] {_NUMBER}
  | (?<!\w) (?: {_NAME}[ ] ){{1,2}} (?:{_APART}) [ ] {_NUMBER}
  | (?<![\w.]) \d{{1,4}} (?: [ ]?(?:bis|ter) )? ,? [ ] (?i:{_FRENCH}) [ ] {_OF} {_NAME}
        (?: [ -]{_NAME} ){{0,2}}
  | (?<!\w) (?:{_BEFORE}) [ ]? {_OF} {_NAME} (?: [ ]{_OF}{_NAME} ){{0,2}} ,?[ ]
        (?:n[º°.][ ]?)? {_NUMBER}
  | (?<![\w-]) [A-Z]{{1,2}}\d[A-Z\d]? [ ] \d (?!GB|TB) [ABD-HJLNP-UW-Z]{{2}} \b
  | (?<![\w.]) -?\d{{1,3}}\.\d{{3,}} [ ]*,[ ]* -?\d{{1,3}}\.\d{{3,}} (?![\w.]*\d)
"""
