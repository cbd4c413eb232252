"""What Messenger and Instagram write into a conversation by themselves, by language.

    sort_of(f"{SUBJECT} named the group Garden club.")  → "notice"
    sort_of("Du hast einen Anhang gesendet.")           → "sent", the app's words for a file
    sort_of("see you at nine")                          → None

In the table {s} is whoever did it, {x} any words, {e} an emoji; "!" marks sentences so particular
that {s} may be a nickname that is not known, "*" those in which the app also speaks of somebody
else than the sender. A full stop at the end may be missing. Languages that are not here are read
by their structure (`meta_notices`); a phrase that is missing costs nothing but certainty.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

__all__ = ["FIRST_WORDS", "SUBJECT", "Sort", "is_of_anybody", "is_particular", "sort_of"]

Sort = Literal["unsent", "sent", "notice"]
SUBJECT = "\ue000"  # stands for the name of whoever did it

_WORDS = {
    "{x}": r".{1,300}?",
    "{e}": r"[^\w\s]{1,16}(?: ?[^\w\s]{1,16})?",
}

_TABLE = """
# English
liked: Liked a message | Reacted {e} to (your|a) message | {s} reacted {e} to (your|a) message
sent: {s} (sent|shared) (an?|the|[0-9]+|some) (attachment|photo|picture|image|video|sticker|GIF|
 voice message|voice clip|audio clip|audio message|audio file|file|document|link|location|
 live location|contact|post|reel|story|clip|gift|song|game|profile|message request|album)s?.
unsent: {s} unsent a message.
notice: !{s} voted for ["“]{x}["”] in the poll: {x} | !{s} (removed|changed) (their |his |her |
 your )?vote (for|to|from) {x} in the poll: {x} | !{s} created a poll: {x}
 | !{s} set the nickname for {x} to {x}. | !{s} set (your|(his|her|their|your) own|his|her|
 their) nickname to {x}. | !{s} cleared (the nickname for {x}|(your|(his|her|their|your) own|
 his|her|their) nickname). | !{s} (set|changed) the (quick reaction|emoji|chat emoji) to {x}.
 | !{s} changed the (chat )?theme( to {x})?. | !{s} changed the chat colou?rs?.
 | !{s} named the group {x}. | !{s} responded (Going|Maybe|Interested|Can['’]t Go) to {x}.
 | {s} created (the|this) group. | {s} (changed|removed|set) the group (photo|name).
 | {s} left the (group|conversation). | {s} joined the (group|conversation)( .{1,80})?.
 | {s} (added|removed) {x} (to|from) the (group|conversation). | {s} (added|removed) {x} as (an|
 a group) admin. | {s} (is|are) (now|no longer) (an|a group) admin. | {s} (pinned|
 unpinned) a message. | {s} (set|cleared) the (quick reaction|emoji). | {s} turned (on|
 off) (disappearing|vanish|member approval|end-to-end|read receipts)\\b{x}. | {s} (joined|
 started|ended|left) (a|an|the|your) (group )?(video |audio |voice )?(call|
 chat)( from .{1,80})?. | *{s} missed (a|an|your|the) (group )?(video |audio |voice )?(call|
 chat)( (from|with) .{1,80})?. | *{s} (started|ended) a (video|audio) (call|chat).
 | {s} called (you|the group). | {s} (are|is) now connected on {x}.
 | {s} can now message and call {x}. | {s} waved at (you|everyone|the group).
 | {s} mentioned you in (their|his|her|a) story. | {s} (started|stopped) sharing (a |your |
 their |his |her )?(live )?(location|video|screen).
whole: (The )?(group )?(video |audio |voice )(call|chat) ended. | The (call|chat) ended.
 | This poll is no longer available. | Multiple updates for the poll: {x}
 | Say hi to your new Facebook friend, {x}.
 | Messages and calls are (now )?secured with end-to-end encryption{x}. | (Missed|
 Declined) (group )?(video |audio |voice )?(call|chat) from {x}.

# Deutsch
liked: Gefällt eine Nachricht | Hat eine Nachricht mit [„"]Gefällt mir[“"] markiert
 | Hat mit {e} auf (deine|Ihre|eine) Nachricht reagiert | Reagierte mit {e} auf deine Nachricht
sent: ({s} hat|Du hast|Sie haben) (einen Anhang|ein Foto|ein Bild|ein Video|einen Sticker|
 ein GIF|eine Sprachnachricht|einen Link|einen Standort|eine Datei|einen Beitrag|ein Reel|
 eine Story|[0-9]+ (Fotos|Videos|Anhänge|Dateien)) (gesendet|geteilt|geschickt).
unsent: ({s} hat|Du hast) eine Nachricht (zurückgerufen|zurückgenommen).
notice: !({s} hat|Du hast) die Gruppe {x} genannt. | !({s} hat|
 Du hast) eine Umfrage erstellt: {x} | !({s} hat|Du hast) (für|in der Umfrage|
 bei der Umfrage) {x} (gestimmt|abgestimmt)(: {x})?. | !({s} hat|
 Du hast) {x} Spitznamen {x} (festgelegt|geändert|gegeben|gelöscht|entfernt). | !({s} hat|
 Du hast) (das|die|den) (Thema|Chat-Thema|Design|Chatdesign|Farbe|Farben|Emoji|Schnellreaktion|
 Gruppenfoto|Gruppenbild|Gruppennamen)( .{1,120})? (geändert|festgelegt|entfernt). | ({s} hat|
 Du hast) die (Gruppe|Unterhaltung) (verlassen|erstellt). | ({s} hat|
 Du hast) {x} (zur Gruppe hinzugefügt|aus der Gruppe entfernt). | ({s} hat|
 Du hast) eine Nachricht (angepinnt|fixiert|angeheftet). | *({s} hat|Du hast) (einen|deinen|
 den) (Video|Audio|Sprach)?-?(anruf|chat|Anruf|Chat)( von .{1,80})? (gestartet|beendet|
 verpasst). | ({s} hat|Du hast) (einen|deinen) Anruf( von .{1,80})? verpasst. | {s} ist (dem|
 der) (Videochat|Anruf|Videoanruf|Gruppe) beigetreten.
whole: Der (Videochat|Anruf|Videoanruf|Audioanruf) wurde beendet.

# Français
liked: A aimé un message | A réagi (avec |par )?{e} à (votre|ton|un) message
sent: ({s} a|Vous avez|Tu as) (envoyé|partagé) (une pièce jointe|une photo|une vidéo|un sticker|
 un autocollant|un GIF|un message vocal|un lien|une position|un fichier|une publication|un reel|
 une story|[0-9]+ (photos|vidéos|pièces jointes)).
unsent: ({s} a|Vous avez) (retiré|annulé l['’]envoi d['’]) ?un message.
notice: !({s} a|Vous avez|Tu as) nommé le groupe {x}. | !({s} a|Vous avez|
 Tu as) (créé un sondage|voté pour) ?:? ?{x}. | !({s} a|Vous avez|Tu as) (changé|modifié|défini|
 effacé|supprimé) (le|son|votre|ton) (surnom|pseudo){x}. | !({s} a|Vous avez|Tu as) (changé|
 modifié|défini) (le thème|l['’]emoji|la réaction rapide|les couleurs|la photo du groupe|
 la couleur)( .{1,120})?. | ({s} a|Vous avez|Tu as) (quitté|créé|rejoint) (le groupe|
 la conversation|l['’]appel|l['’]appel vidéo). | ({s} a|Vous avez|Tu as) (ajouté|supprimé|
 retiré) {x} (au|du) groupe. | ({s} a|Vous avez|Tu as) épinglé un message. | *({s} a|Vous avez|
 Tu as) (démarré|lancé|manqué|terminé|passé) (un|votre|l['’]) ?(appel|chat) ( vidéo|
  audio)?( (de|avec) .{1,80})?.
whole: L['’]appel( vidéo| audio)? (est|a été|s['’]est) terminé. | Le chat vidéo est terminé.

# Español
liked: (Le|Te) gustó un mensaje | (Indicó|Ha indicado|Indicaste) que (le|te) gusta un mensaje
 | (Reaccionó|Ha reaccionado|Reaccionaste) con {e} a (tu|su|un) mensaje
sent: ({s} (envió|ha enviado|compartió)|Enviaste|Has enviado|Compartiste) (un archivo adjunto|
 un adjunto|una foto|un video|un vídeo|un sticker|un GIF|un mensaje de voz|un enlace|
 una ubicación|un archivo|una publicación|un reel|una historia|[0-9]+ (fotos|videos|vídeos)).
unsent: ({s} (anuló|canceló) el envío de|Anulaste el envío de) un mensaje.
notice: !({s} (nombró|llamó|ha llamado|le puso)|Nombraste|Llamaste) (al|el) grupo {x}.
 | !({s} (creó|ha creado)|Creaste|Has creado) una encuesta: {x} | !({s} (votó|ha votado)|
 Votaste|Has votado) por {x} en la encuesta: {x} | !({s} (cambió|estableció|configuró|borró|
 ha cambiado)|Cambiaste|Estableciste) (el|tu|su) apodo {x}. | !({s} (cambió|ha cambiado|
 estableció)|Cambiaste|Has cambiado) (el tema|el emoji|la reacción rápida|los colores|
 la foto del grupo)( .{1,120})?. | ({s} (salió|abandonó|ha salido)|Saliste|Abandonaste) (del|
 el) (grupo|chat). | ({s} (agregó|añadió|eliminó)|Agregaste|Añadiste|Eliminaste) a {x} (al|
 del) grupo. | ({s} (fijó|ha fijado)|Fijaste) un mensaje. | *({s} (inició|se unió a|perdió|
 ha iniciado)|Iniciaste|Te uniste a|Perdiste) (una|la|tu) (llamada|videollamada) ( de .{1,80})?.
whole: (La|Finalizó la|Terminó la) (llamada|videollamada)( ha)?( finalizó| terminó| terminado|
  finalizado)?.

# Português
liked: Curtiu uma mensagem | Gostou de uma mensagem | Reagiu com {e} (à sua|à tua|a uma|
 a sua) mensagem
sent: ({s}|Você) (enviou|compartilhou|partilhou) (um anexo|uma foto|um vídeo|uma figurinha|
 um autocolante|um GIF|uma mensagem de voz|um link|uma localização|um arquivo|um ficheiro|
 uma publicação|um reel|um story|[0-9]+ (fotos|vídeos)).
unsent: ({s}|Você) cancelou o envio de uma mensagem.
notice: !({s}|Você) (nomeou o grupo|deu ao grupo o nome de|criou uma enquete:|
 criou uma sondagem:) {x}. | !({s}|Você) votou em {x} na (enquete|sondagem): {x} | !({s}|
 Você) (definiu|alterou|mudou|removeu|limpou) (o|seu|teu|o seu|o próprio) apelido {x}. | !({s}|
 Você) (alterou|mudou|definiu) (o tema|o emoji|a reação rápida|as cores|
 a foto do grupo)( .{1,120})?. | ({s}|Você) (saiu do|criou o|entrou no) grupo. | ({s}|
 Você) fixou uma mensagem. | ({s}|Você) (adicionou|removeu) {x} (ao|do) grupo. | *({s}|
 Você) (iniciou|entrou em|perdeu|participou de) (uma|na|a|sua) (chamada|videochamada|ligação|
 chamada de vídeo) ( de .{1,80})?.
whole: A (chamada|videochamada|ligação|chamada de vídeo) (foi encerrada|terminou).

# Italiano
liked: Ha messo ["“«]?Mi piace["”»]? a un messaggio | Piace un messaggio
 | Ha reagito con {e} al tuo messaggio | Ha aggiunto la reazione {e} al tuo messaggio
sent: ({s} ha|Hai) (inviato|condiviso) (un allegato|una foto|un video|un adesivo|uno sticker|
 una GIF|un messaggio vocale|un link|una posizione|un file|un post|un reel|una storia|
 [0-9]+ (foto|video)).
unsent: ({s} ha|Hai) annullato l['’]invio di un messaggio.
notice: !({s} ha|Hai) (chiamato il gruppo|creato un sondaggio:|dato al gruppo il nome) {x}.
 | !({s} ha|Hai) votato {x} nel sondaggio: {x} | !({s} ha|Hai) (impostato|cambiato|cancellato|
 rimosso|modificato) (il|il tuo|il suo|il proprio) soprannome{x}. | !({s} ha|Hai) (impostato|
 cambiato|modificato) (il tema|l['’]emoji|la reazione rapida|i colori|
 la foto del gruppo)( .{1,120})?. | ({s} ha|Hai) (lasciato|abbandonato|creato) (il gruppo|
 la conversazione). | ({s} ha|Hai) fissato un messaggio. | ({s} ha|Hai) (aggiunto|
 rimosso) {x} (al|dal) gruppo. | *({s} ha|Hai) (avviato|perso|iniziato) (una|la|
 la tua) (chiamata|videochiamata|chat video)( da .{1,80})?.
whole: (La )?(chiamata|videochiamata|chat video) è terminata.

# Nederlands
liked: Vindt een bericht leuk | Heeft een bericht leuk gevonden | Heeft met {e} op (je|
 een) bericht gereageerd | Heeft {e} gereageerd op je bericht
sent: ({s} heeft|Je hebt|U hebt) (een bijlage|een foto|een video|een sticker|een GIF|
 een spraakbericht|een link|een locatie|een bestand|een bericht|een reel|een verhaal|
 [0-9]+ (foto['’]s|video['’]s)) (verzonden|gestuurd|gedeeld|verstuurd).
notice: !({s} heeft|Je hebt) de groep {x} genoemd. | !({s} heeft|
 Je hebt) een peiling gemaakt: {x} | !({s} heeft|Je hebt) {x} bijnaam {x} (ingesteld|gewijzigd|
 gewist|verwijderd). | !({s} heeft|Je hebt) (het thema|de emoji|de groepsfoto|de snelle reactie|
 de kleuren)( .{1,120})? (gewijzigd|ingesteld). | ({s} heeft|Je hebt) (de groep|
 het gesprek) verlaten. | ({s} heeft|Je hebt) een bericht vastgezet. | ({s} heeft|
 Je hebt) {x} (aan de groep toegevoegd|uit de groep verwijderd). | *({s} heeft|Je hebt) (een|
 je) (videochat|video-oproep|oproep|audio-oproep|videogesprek)( van .{1,80})? (gestart|gemist|
 beëindigd).

# Polski
liked: Lubi wiadomość | Polubi(ł|ła|ł[(]a[)]|ono) wiadomość | Zareagowa(ł|ła|ł[(]a[)]|
 no) {e} na (Twoją|twoją) wiadomość
sent: ((Użytkownik )?{s} (wysłał[(]a[)]|wysłał|wysłała)|Wysłałeś|Wysłałaś|Wysłano|
 Wysłałeś[(]aś[)]) (załącznik|zdjęcie|film|wideo|naklejkę|GIF|wiadomość głosową|link|
 lokalizację|plik|[0-9]+ (zdjęcia|zdjęć)).
notice: !((Użytkownik )?{s}) (nazwał[(]a[)]|nazwał|nazwała) grupę {x}.
 | !((Użytkownik )?{s}) (utworzył[(]a[)]|utworzył|utworzyła) ankietę: {x}
 | !((Użytkownik )?{s}) (ustawił[(]a[)]|ustawił|ustawiła|zmienił[(]a[)]|zmienił|
 zmieniła) (pseudonim|nick|motyw|emoji|zdjęcie grupy|szybką reakcję){x}.
 | ((Użytkownik )?{s}) (opuścił[(]a[)]|opuścił|opuściła) (grupę|konwersację|czat).
 | *((Użytkownik )?{s}) (rozpoczął[(]ęła[)]|rozpoczął|rozpoczęła|dołączył[(]a[)] do|
 nie odebrał[(]a[)]) {x}.

# Türkçe
liked: Bir mesajı beğendi | Mesajına {e} ifadesini bıraktı | Mesajına {e} ile tepki verdi
sent: {s},? bir (ek|fotoğraf|video|çıkartma|GIF|sesli mesaj|bağlantı|konum|dosya) (gönderdi|
 paylaştı). | Bir (ek|fotoğraf|video|çıkartma|GIF|sesli mesaj|bağlantı|konum|dosya) (gönderdin|
 gönderdiniz|paylaştın).
notice: !{s},? (grubun adını|gruba) {x} (yaptı|koydu|olarak değiştirdi|adını verdi).
 | {s},? gruptan ayrıldı. | !{s},? {x} takma adını {x} (yaptı|olarak ayarladı|
 olarak değiştirdi). | !{s},? temayı {x}. | !{s},? bir anket oluşturdu: {x}
 | *{s},? (bir )?(görüntülü sohbet|görüntülü arama|sesli arama|arama) (başlattı|bitirdi).
 | {s},? bir mesajı sabitledi.

# Русский
liked: Нравится сообщение | (Понравилось|Лайкнул[(]а[)]) сообщение | Поставил(а|
 [(]-?а[)])? [«"]?Нравится[»"]? сообщению | (Отреагировал(а|[(]-?а[)])?|Реакция) {e} на (ваше|
 твоё|твое) сообщение
sent: {s} (отправил(а|[(]-?а[)])?|поделил(ся|ась)) (вложение|фото|видео|стикер|GIF|
 голосовое сообщение|ссылку|файл). | Вы (отправили|поделились) (вложение|фото|видео|стикер|GIF|
 голосовое сообщение|ссылку|файл).
notice: !({s} (назвал(а|[(]-?а[)])?|переименовал(а|[(]-?а[)])?)|Вы назвали) группу {x}.
 | !({s} (создал(а|[(]-?а[)])?)|Вы создали) опрос: {x} | !({s} (изменил(а|[(]-?а[)])?|сменил(а|
 [(]-?а[)])?|установил(а|[(]-?а[)])?)|Вы изменили) (тему|псевдоним|смайлик|эмодзи|фото группы|
 цвет){x}. | ({s} (покинул(а|[(]-?а[)])?|вышел из|вышла из)|Вы покинули) (группу|группы|чат|
 беседу). | *({s} (начал(а|[(]-?а[)])?|пропустил(а|[(]-?а[)])?)|Вы (начали|
 пропустили)) (видеочат|звонок|аудиозвонок|видеозвонок){x}.

# Čeština, Magyar, Română
liked: (Líbí|Líbila) se (mu|jí|mu/jí|vám|ti) zpráva | Kedvelt egy üzenetet
 | A apreciat un mesaj | (Zareagoval|Zareagovala|Zareagoval[(]a[)]) {e} na (tvoji|vaši) zprávu
 | {e} reakciót adott az üzenetedre | A reacționat cu {e} la mesajul (tău|dvs.)
sent: {s} (poslal|poslala|poslal[(]a[)]|odeslal|odeslala|odeslal[(]a[)]) (přílohu|fotku|
 fotografii|video|nálepku|GIF|hlasovou zprávu|odkaz). | {s} (mellékletet|fényképet|fotót|videót|
 matricát|GIF-et|hangüzenetet) küldött. | ({s} a|Ai) trimis (un atașament|o fotografie|
 un videoclip|un autocolant|un GIF|un mesaj vocal|un link).
notice: !{s} (pojmenoval|pojmenovala|pojmenoval[(]a[)]) skupinu {x}.
 | !{s} elnevezte a csoportot: {x}. | !({s} a|Ai) denumit grupul {x}. | {s} (opustil|opustila|
 opustil[(]a[)]) (skupinu|konverzaci). | {s} kilépett a csoportból. | ({s} a|Ai) părăsit grupul.

# Svenska, Dansk, Norsk, Suomi
liked: Gillade ett meddelande | Synes godt om en besked | Kan lide en besked
 | Likte en melding | Tykkäsi viestistä | Reagerade med {e} på ditt meddelande
 | Reagerede med {e} på din besked | Reagerte med {e} på meldingen din | Reagoi {e} viestiisi
sent: ({s}|Du) (skickade|delade) (en bilaga|ett foto|en bild|en video|en dekal|en GIF|
 ett röstmeddelande|en länk). | ({s}|Du) (sendte|har sendt|delte) (en vedhæftet fil|
 et vedhæftet element|et foto|et billede|en video|et klistermærke|en GIF|et vedlegg|et bilde|
 et klistremerke|en talemelding|en lenke|et link). | {s} lähetti (liitteen|kuvan|videon|tarran|
 GIF-kuvan|ääniviestin|linkin).
notice: !({s}|Du) (döpte gruppen till|namngav gruppen|navngav gruppen|kaldte gruppen|
 kalte gruppen|ga gruppen navnet|gav gruppen navnet) {x}. | !{s} (nimesi ryhmän|
 antoi ryhmälle nimen) {x}. | ({s}|Du) (lämnade gruppen|forlod gruppen|forlot gruppen).
 | {s} poistui ryhmästä.

# Ελληνικά, Bahasa, Tiếng Việt
liked: Του/της άρεσε ένα μήνυμα | Άρεσε ένα μήνυμα | Menyukai (sebuah )?pesan
 | Đã thích (một )?tin nhắn | Αντέδρασε με {e} στο μήνυμά σας | (Bereaksi|Menanggapi|
 Menambahkan tanggapan) (dengan )?{e} (ke|terhadap|untuk|pada) pesan Anda
 | Đã bày tỏ cảm xúc {e} về tin nhắn của bạn
sent: {s} έστειλε (ένα συνημμένο|μια φωτογραφία|ένα βίντεο|ένα αυτοκόλλητο). | ({s}|
 Anda) mengirim (lampiran|foto|video|stiker|GIF|pesan suara|tautan). | ({s}|
 Bạn) đã gửi (một )?(file đính kèm|tệp đính kèm|ảnh|video|nhãn dán|tin nhắn thoại|liên kết).
notice: !{s} ονόμασε την ομάδα {x}. | !({s}|Anda) (menamai grup|memberi nama grup) {x}. | !({s}|
 Bạn) đã đặt tên nhóm là {x}. | !({s}|Bạn) đã đặt biệt danh (cho|của) {x}. | ({s}|
 Anda) meninggalkan grup. | ({s}|Bạn) đã rời khỏi nhóm.

# हिन्दी, मराठी, বাংলা
liked: (एक )?(मैसेज|संदेश) (को लाइक किया|लाइक किया|पसंद किया|को पसंद किया) | आपके (मैसेज|
 संदेश) पर {e} (रिएक्ट किया|प्रतिक्रिया दी) | (एक |एका )?(मेसेज|संदेश|मेसेजला|
 संदेशाला) (लाइक केला|लाईक केला|लाइक केले|लाईक केले|आवडला|पसंत केला) | (तुमच्या|
 आपल्या) (मेसेजवर|संदेशावर|मेसेजला|संदेशाला) {e} (प्रतिक्रिया दिली|रिअ‍ॅक्ट केले|प्रतिसाद दिला|
 ने प्रतिक्रिया दिली) | {e} (ने|सह) (तुमच्या|आपल्या) (मेसेजवर|संदेशावर) प्रतिक्रिया दिली
 | একটি (মেসেজ|বার্তা) (পছন্দ করেছেন|লাইক করেছেন) | আপনার (মেসেজে|
 বার্তায়) {e} প্রতিক্রিয়া (জানিয়েছেন|দিয়েছেন)
sent: ({s} ने|आपने|तुम्ही) (एक )?(अटैचमेंट|अटॅचमेंट|संलग्नक|फ़ोटो|फोटो|वीडियो|व्हिडिओ|स्टिकर|
 GIF) (भेजा|भेजी|भेजा है|पाठवला|पाठवली|पाठवले|पाठविले|पाठवली आहे). | {s} একটি (সংযুক্তি|
 অ্যাটাচমেন্ট|ছবি|ভিডিও) (পাঠিয়েছেন|পাঠিয়েছে).
notice: !({s} ने|आपने|तुम्ही) (ग्रुप का नाम|गटाचे नाव|ग्रुपचे नाव|गटाला|ग्रुपला) {x}. | ({s} ने|
 आपने|तुम्ही) (ग्रुप|गट|समूह) (छोड़ दिया|छोड़ा|सोडला|सोडले). | *({s} ने|आपने|
 तुम्ही) (वीडियो चैट|वीडियो कॉल|व्हिडिओ चॅट|व्हिडिओ कॉल|ऑडियो कॉल|ऑडिओ कॉल|कॉल) (शुरू किया|
 शुरू की|सुरू केले|सुरू केला|सुरु केले|सुरु केला).

# 日本語, 한국어, 中文
liked: メッセージに「?いいね！?」?しました | 메시지를 좋아합니다 | (赞了|讚了|赞过|喜欢|
 喜歡)(一)?(条|則|个)?(消息|訊息|信息) | あなたのメッセージに{e}でリアクションしました
 | 회원님의 메시지에 {e} 공감했습니다 | 对你的(消息|信息)做出了 ?{e} ?(回应|反应)
sent: {s}さんが(添付ファイル|写真|動画|スタンプ|GIF|音声メッセージ|リンク)を送信しました。?
 | {s}님이 (첨부 파일|사진|동영상|스티커|GIF|음성 메시지|링크)을?를? 보냈습니다. | ({s}|你|
 您) ?(发送了|傳送了|发了|傳了) ?(一|1)?(个|張|张|則|条)?(附件|照片|图片|圖片|视频|影片|贴图|
 貼圖|链接|連結)。?
notice: !{s}さんがグループ名を{x}(に設定|に変更)しました。? | !{s}님이 그룹 이름을 {x}(으로|
 로) (지정|변경|설정)했습니다. | !({s}|你|您) ?(将|將|把)(群组|群組|群聊)(命名|名称|名稱){x}。?

# العربية, עברית
liked: أعجب برسالة | أعجبته رسالة | أبدى إعجابه برسالة | (אהב/ה|אהב|אהבה) הודעה
 | تفاعل ب ?{e} مع رسالتك
sent: (أرسل|أرسلت|قام) {s} (مرفقًا|صورة|مقطع فيديو|ملصقًا|بإرسال مرفق). | {s} (שלח|שלחה|
 שלח/ה) (קובץ מצורף|תמונה|סרטון|מדבקה).
"""


def _templates() -> list[tuple[Sort, str, str]]:
    """Every template: what it tells of, its mark ("", "!" or "*") and its words."""
    templates: list[tuple[Sort, str, str]] = []
    table = re.sub(r"\n ", " ", re.sub(r"\|\n ", "|", _TABLE))
    for line in table.split("\n"):
        kind, colon, held = line.partition(": ")
        if not colon or line.startswith("#"):
            continue
        sort: Sort = "sent" if kind == "sent" else "unsent" if kind == "unsent" else "notice"
        for written in held.split(" | "):
            template = written.strip()
            mark = template[:1] if template[:1] in ("!", "*") else ""
            templates.append((sort, mark, template.removeprefix(mark)))
    return templates


def _regex(template: str) -> str:
    body = template.rstrip(".")
    stop = r"[.。।]?" if body != template else ""
    body = re.sub(r"\.(?!\{)", r"\\.", body)
    body = re.sub(r"(?<!\[)\((?!\?)", "(?:", body)  # groups that capture nothing fail faster
    for name, pattern in _WORDS.items():
        body = body.replace(name, pattern)
    return body.replace("{s}", SUBJECT) + stop


def _any_of(templates: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_regex(one)})" for one in templates))


def _first_words(template: str) -> set[str]:
    """The words that may follow whoever did it."""
    after = template.partition("{s}")[2]
    group = re.match(r"[,?]* \(([^()]*)", after) or re.match(r"[,?]* ([\w]+)", after)
    return {one.split()[0] for one in group[1].split("|") if one.split()} if group else set()


_ALL = _templates()
_BY_SORT = re.compile(
    "|".join(
        f"(?P<{sort}>{_any_of([one for told, _, one in _ALL if told == sort]).pattern})"
        for sort in get_args(Sort)
    )
)
_PARTICULAR = _any_of([one for _, mark, one in _ALL if mark == "!"])
_OF_ANYBODY = _any_of([one for _, mark, one in _ALL if mark == "*"])
FIRST_WORDS = frozenset(word for _, mark, one in _ALL if mark == "!" for word in _first_words(one))


def sort_of(text: str) -> Sort | None:
    """What a text is in which SUBJECT stands for the sender; None where no template fits."""
    match = _BY_SORT.fullmatch(text)
    return (
        next((sort for sort in get_args(Sort) if match[sort] is not None), None) if match else None
    )


def is_particular(text: str) -> bool:
    """Whether no person writes this, whatever the SUBJECT is."""
    return _PARTICULAR.fullmatch(text) is not None


def is_of_anybody(text: str) -> bool:
    """Whether the app writes this of people who are not the sender."""
    return _OF_ANYBODY.fullmatch(text) is not None
