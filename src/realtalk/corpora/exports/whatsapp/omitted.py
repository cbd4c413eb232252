"""What stands in an export for a picture, sound or file that was left out of it.

    OMITTED["image omitted"]        → "image"
    OMITTED["medien ausgeschlossen"] → "media"     (Android writes it inside <>)

Keys are lower case. The words are those of the WhatsApp releases known to us; a phone's
language decides which of them a file holds.
"""

from __future__ import annotations

__all__ = ["OMITTED"]

_KINDS = ("image", "video", "audio", "sticker", "media", "file", "contact")

# A language each: names of image; video; audio; sticker; media; file; contact = what follows.
_THINGS = """
image|photo; video|video note; audio|voice message; sticker; media|gif; document|file;
contact card = omitted

bild; video|videonachricht; audio; sticker; gif|medien; dokument|datei; kontaktkarte|
kontaktdaten = weggelassen|ausgelassen|ausgeschlossen

imagen|foto; video|vídeo; audio; sticker; gif|multimedia; documento|archivo;
tarjeta de contacto|contacto = omitido|omitida

imagem|foto; vídeo; áudio; figurinha|autocolante; gif|mídia|multimédia|
arquivo de mídia; documento|ficheiro|arquivo; cartão de contato|cartão de contacto =
omitido|omitida|ocultado|ocultada|oculto|oculta|não revelado|não revelada

image|photo; vidéo; audio; sticker; gif|médias|média; document|fichier; fiche contact|
carte de contact = omis|omise|absent|absente|retiré|retirée|manquant|manquante|
non inclus

immagine|foto; video; audio; sticker; gif|media; documento|file; scheda contatto =
omesso|omessa|omessi|non incluso|non inclusa|escluso|esclusa

afbeelding; video; audio; sticker; gif|media; document|bestand; contactkaart|contact =
weggelaten

görüntü|resim|fotoğraf; video; ses|ses dosyası; çıkartma; gif|medya; belge|dosya;
kişi kartı = dahil edilmedi|atlanmış|atlandı

изображение|фото; видео; аудио|аудиофайл; стикер; gif|медиа; документ|файл;
карточка контакта|контакт = отсутствует|пропущено|пропущен|опущено

зображення|фото; відео; аудіо; стікер|наліпку; gif|медіафайли; документ|файл;
картку контакту = пропущено|відсутнє|не включено

obraz|zdjęcie; wideo|film; plik audio|audio; naklejka|naklejkę; gif|multimedia|media;
dokument|plik; karta kontaktu|kartę kontaktu = pominięto|pominięty|pominięte|pominięta

obrázek; video; audio|zvuk; nálepka|samolepka; gif|média|médium; dokument|soubor;
kontakt = vynechán|vynechána|vynecháno

kép; videó; hangfájl|hang; matrica; gif|média; dokumentum|fájl; névjegykártya = kihagyva|
elhagyva|nincs mellékelve

imagine|imaginea; video|videoclip; audio; sticker|autocolant; gif|media; document|
fișier; card de contact = omis|omisă|omise|exclus|omită

εικόνα|η εικόνα; βίντεο|το βίντεο; ήχος|ο ήχος; αυτοκόλλητο; gif|πολυμέσα; έγγραφο|
αρχείο; κάρτα επαφής = παραλείφθηκε|παραλείπεται|παραλήφθηκε|παραλείφθηκαν

bild; video; ljud; klistermärke|dekal; gif|media|mediafil; dokument|fil; kontaktkort =
utelämnad|utelämnat|utelämnades|har utelämnats|utesluten

billede|bilde; video; lyd; sticker|klistermærke|klistremerke; gif|medier|mediefil|
mediefiler|media; dokument|fil; kontaktkort = udeladt|utelatt|er udeladt|er utelatt|
blev udeladt

kuva; video; ääni|äänite; tarra; gif|media; asiakirja|tiedosto; yhteystieto =
jätettiin pois|jätetty pois|poistettu|ei sisälly

gambar|foto|imej; video; audio; stiker|pelekat; gif|media; dokumen|file|fail;
kartu kontak|kad kenalan = tidak disertakan|dihilangkan|disingkirkan|dikeluarkan|
diabaikan|dikecualikan

hình ảnh|ảnh; video; âm thanh; nhãn dán|sticker; gif|phương tiện|file phương tiện|
tệp phương tiện; tài liệu|tệp; thẻ liên hệ|danh thiếp = đã bị bỏ qua|bị bỏ qua|
đã bỏ qua|đã loại bỏ|đã được bỏ qua
"""

# Languages that do not build "thing + verb" this way.
_WHOLE = """
media: без медиафайлов | без медіафайлів | pominięto multimedia | παραλείφθηκαν τα πολυμέσα |
đã bỏ qua phương tiện | đã loại bỏ file phương tiện | ไม่รวมสื่อ | สื่อไม่รวม | ละเว้นสื่อ |
تم استبعاد الوسائط | تم حذف الوسائط | המדיה לא נכללה | מדיה הושמטה | המדיה הושמטה |
رسانه حذف شد | پیوست نما حذف شد | मीडिया के बिना | मीडिया छोड़ा गया | मीडिया हटाया गया |
メディアは含まれていません | メディアなし | メディアを除外しました | 미디어 제외됨 |
사진 및 동영상 생략 | 미디어 파일 제외됨 | 미디어 파일을 제외한 내보내기 | 省略多媒体文件 |
媒体文件已省略 | 已省略多媒体文件 | 已省略多媒體檔案 | 多媒體檔案已略 | 略去多媒體檔案 |
媒體已略去 | 已忽略 gif | gif 생략됨 | gifは含まれていません | hiányzó médiafájl |
fișierele media au fost omise

image: ไม่รวมภาพ | ละเว้นภาพ | ไม่รวมรูปภาพ | تم استبعاد الصورة | הושמטה תמונה | התמונה הושמטה |
התמונה לא נכללה | تصویر حذف شد | चित्र छोड़ा गया | छवि छोड़ी गई | 画像は含まれていません |
画像を省略 | 이미지 생략됨 | 이미지 제외됨 | 사진 생략됨 | 图像已忽略 | 已忽略图片 |
图片已忽略 | 圖片已略去 | 圖片已忽略 | 已略去圖片 | pominięto obraz | pominięto grafikę

video: ไม่รวมวิดีโอ | ละเว้นวิดีโอ | تم استبعاد الفيديو | הסרטון הושמט | הסרטון לא נכלל |
ویدئو حذف شد | वीडियो छोड़ा गया | 動画は含まれていません | ビデオは含まれていません |
동영상 생략됨 | 동영상 제외됨 | 视频已忽略 | 已忽略视频 | 影片已略去 | 影片已忽略 | 已略去影片 |
pominięto film

audio: ไม่รวมเสียง | ละเว้นเสียง | تم استبعاد الصوت | تم استبعاد المقطع الصوتي |
הקובץ הקולי הושמט | صدا حذف شد | ऑडियो छोड़ा गया | 音声は含まれていません |
オーディオは含まれていません | 오디오 생략됨 | 오디오 제외됨 | 音频已忽略 | 已忽略音频 |
音訊已略去 | 音訊已忽略 | 已略去音訊 | pominięto audio

sticker: ไม่รวมสติกเกอร์ | ละเว้นสติกเกอร์ | تم استبعاد الملصق | הסטיקר הושמט | המדבקה הושמטה |
استیکر حذف شد | स्टिकर छोड़ा गया | ステッカーは含まれていません | 스티커 생략됨 |
스티커 제외됨 | 贴图已忽略 | 已忽略贴图 | 貼圖已略去 | 貼圖已忽略 | 已略去貼圖 |
pominięto naklejkę

file: ไม่รวมเอกสาร | ละเว้นเอกสาร | تم استبعاد المستند | המסמך הושמט | दस्तावेज़ छोड़ा गया |
ドキュメントは含まれていません | 文書は含まれていません | 문서 생략됨 | 문서 제외됨 |
文档已忽略 | 已忽略文档 | 文件已略去 | 文件已忽略 | 已略去文件 | pominięto dokument

contact: ไม่รวมบัตรผู้ติดต่อ | تم استبعاد بطاقة جهة الاتصال | כרטיס איש הקשר הושמט |
連絡先カードは含まれていません | 연락처 카드 생략됨 | 联系人卡片已忽略 | 聯絡人名片已略去 |
pominięto kartę kontaktu
"""


def _paragraphs(table: str) -> list[str]:
    return [" ".join(part.split("\n")) for part in table.strip().split("\n\n")]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split("|") if word.strip()]


def _omitted() -> dict[str, str]:
    phrases: dict[str, str] = {
        "live location shared": "location",
        "view once voice message omitted": "audio",
        "view once message omitted": "media",
    }
    for language in _paragraphs(_THINGS):
        names, _, verbs = language.partition("=")
        for kind, group in zip(_KINDS, names.split(";"), strict=True):
            for name in _words(group):
                for verb in _words(verbs):
                    phrases.setdefault(f"{name} {verb}", "image" if name == "gif" else kind)
    for paragraph in _paragraphs(_WHOLE):
        kind, _, listed = paragraph.partition(":")
        for phrase in _words(listed):
            phrases.setdefault(phrase, kind.strip())
    return phrases


OMITTED = _omitted()
