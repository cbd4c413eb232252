"""What WhatsApp itself writes into an export, in the languages known to us.

    DELETED       "diese nachricht wurde gelöscht" ...   the whole text of a message
    EDITED        "this message was edited" ...          inside <> at the end of one
    ATTACHED      "file attached" ...                    after a file's name, in () or <>
    ENCRYPTED, GROUP_EVENTS                              patterns of system lines

Phrases are compared in lower case and without a full stop at the end. None of this is
needed where the structure decides (marks, file names): it is for lines that only their
words distinguish.
"""

from __future__ import annotations

import re

__all__ = [
    "AS_WRITTEN",
    "ATTACHED",
    "CALLED",
    "CALLS",
    "DELETED",
    "EDITED",
    "ENCRYPTED",
    "GROUP_EVENTS",
    "LOCATION",
    "UNSENT",
    "VIEW_ONCE",
]


AS_WRITTEN: set[str] = set()  # every phrase below with the capitals that phones write


def _phrases(table: str) -> frozenset[str]:
    joined = " ".join(table.split("\n"))
    phrases = {phrase.strip() for phrase in joined.split("|") if phrase.strip()}
    AS_WRITTEN.update(phrases)
    return frozenset(phrase.lower() for phrase in phrases)


DELETED = _phrases("""
This message was deleted | You deleted this message | This message was deleted by admin |
Diese Nachricht wurde gelöscht | Du hast diese Nachricht gelöscht | Se eliminó este mensaje |
Eliminaste este mensaje | Este mensaje fue eliminado | Este mensaje se eliminó |
Has eliminado este mensaje | Mensagem apagada | Essa mensagem foi apagada |
Esta mensagem foi apagada | Esta mensagem foi eliminada | Você apagou esta mensagem |
Você apagou essa mensagem | Apagou esta mensagem | Eliminou esta mensagem |
Ce message a été supprimé | Vous avez supprimé ce message | Questo messaggio è stato eliminato |
Hai eliminato questo messaggio | Dit bericht is verwijderd | Dit bericht werd verwijderd |
U hebt dit bericht verwijderd | U heeft dit bericht verwijderd |
Je hebt dit bericht verwijderd | Bu mesaj silindi | Bu mesajı sildiniz |
Данное сообщение удалено | Сообщение удалено | Это сообщение удалено |
Вы удалили данное сообщение | Вы удалили это сообщение | Це повідомлення було видалено |
Це повідомлення видалено | Ви видалили це повідомлення | Ta wiadomość została usunięta |
Ta wiadomość została skasowana | Usunięto tę wiadomość | Usunąłeś tę wiadomość |
Usunęłaś tę wiadomość | Tato zpráva byla odstraněna | Tato zpráva byla smazána |
Tuto zprávu jste smazali | Tuto zprávu jste odstranili | Odstranili jste tuto zprávu |
Ezt az üzenetet törölték | Ez az üzenet törölve lett | Törölted ezt az üzenetet |
Acest mesaj a fost șters | Ai șters acest mesaj | Ați șters acest mesaj |
Αυτό το μήνυμα διαγράφηκε | Διαγράψατε αυτό το μήνυμα | Detta meddelande raderades |
Det här meddelandet raderades | Detta meddelande har raderats | Du raderade detta meddelande |
Du raderade det här meddelandet | Denne besked blev slettet | Du slettede denne besked |
Denne meldingen ble slettet | Du slettet denne meldingen | Tämä viesti poistettiin |
Tämä viesti on poistettu | Poistit tämän viestin | Pesan ini telah dihapus | Pesan ini dihapus |
Anda menghapus pesan ini | Anda telah menghapus pesan ini | Mesej ini telah dipadam |
Mesej ini telah dipadamkan | Mesej ini dipadamkan | Anda telah memadam mesej ini |
Anda memadamkan mesej ini | Tin nhắn này đã bị xóa | Tin nhắn này đã bị xoá |
Bạn đã xóa tin nhắn này | Bạn đã xoá tin nhắn này | ข้อความนี้ถูกลบแล้ว | ข้อความนี้ถูกลบ |
คุณลบข้อความนี้แล้ว | คุณลบข้อความนี้ | تم حذف هذه الرسالة | حذفتَ هذه الرسالة |
حذفت هذه الرسالة | لقد حذفت هذه الرسالة | הודעה זו נמחקה | ההודעה הזאת נמחקה | ההודעה נמחקה |
מחקת הודעה זו | מחקת את ההודעה הזאת | این پیام حذف شد | این پیام حذف شده است |
شما این پیام را حذف کردید | यह मैसेज हटा दिया गया | यह संदेश हटा दिया गया |
यह संदेश हटा दिया गया था | यह मैसेज डिलीट किया गया | यह मैसेज डिलीट कर दिया गया है |
आपने यह मैसेज डिलीट किया | आपने यह मैसेज हटा दिया | आपने यह संदेश हटा दिया |
このメッセージは削除されました | このメッセージを削除しました |
あなたはこのメッセージを削除しました | メッセージを削除しました | 삭제된 메시지입니다 |
이 메시지는 삭제되었습니다 | 이 메시지를 삭제했습니다 | 메시지를 삭제했습니다 | 此消息已被删除 |
此消息已删除 | 这条消息已被删除 | 该消息已被删除 | 您删除了这条消息 | 你删除了这条消息 |
您已删除此消息 | 你已删除此消息 | 此訊息已刪除 | 此訊息已被刪除 | 這則訊息已刪除 |
這則訊息已被刪除 | 您已刪除此訊息 | 你已刪除此訊息 | 您已刪除這則訊息 | 你已刪除這則訊息 |
您刪除了這則訊息 | 你刪除了這則訊息
""")

EDITED = _phrases("""
This message was edited | Diese Nachricht wurde bearbeitet | Se editó este mensaje |
Este mensaje fue editado | Mensagem editada | Essa mensagem foi editada |
Esta mensagem foi editada | Ce message a été modifié | Questo messaggio è stato modificato |
Dit bericht is bewerkt | Dit bericht is gewijzigd | Bu mesaj düzenlendi | Сообщение изменено |
Данное сообщение изменено | Это сообщение изменено | Це повідомлення було відредаговано |
Це повідомлення відредаговано | Це повідомлення змінено | Повідомлення змінено |
Ta wiadomość została edytowana | Edytowano tę wiadomość | Wiadomość edytowana |
Tato zpráva byla upravena | Ezt az üzenetet szerkesztették | Szerkesztett üzenet |
Üzenet szerkesztve | Acest mesaj a fost editat | Mesajul a fost editat |
Αυτό το μήνυμα υποβλήθηκε σε επεξεργασία | Το μήνυμα τροποποιήθηκε | Meddelandet redigerades |
Detta meddelande redigerades | Det här meddelandet redigerades | Denne besked blev redigeret |
Beskeden blev redigeret | Denne meldingen ble redigert | Meldingen ble redigert |
Tätä viestiä muokattiin | Tätä viestiä on muokattu | Viestiä muokattu | Pesan ini diedit |
Pesan ini telah diedit | Mesej ini diedit | Mesej ini telah diedit |
Tin nhắn này đã được chỉnh sửa | Đã chỉnh sửa tin nhắn này | แก้ไขข้อความนี้แล้ว |
ข้อความนี้ถูกแก้ไข | ข้อความนี้ถูกแก้ไขแล้ว | تم تعديل هذه الرسالة | تم تحرير هذه الرسالة |
הודעה זו נערכה | ההודעה נערכה | این پیام ویرایش شد | این پیام ویرایش شده است |
यह मैसेज एडिट किया गया | यह मैसेज एडिट किया गया है | इस मैसेज को एडिट किया गया |
このメッセージは編集されました | このメッセージは編集済みです | メッセージは編集されました |
이 메시지는 수정되었습니다 | 수정된 메시지입니다 | 메시지가 수정되었습니다 | 此消息已编辑 |
此消息已被编辑 | 消息已编辑 | 此訊息已編輯 | 這則訊息已編輯 | 訊息已編輯
""")

ATTACHED = _phrases("""
file attached | attached | Datei angehängt | Anhang | archivo adjunto | adjunto |
arquivo anexado | ficheiro anexado | anexado | fichier joint | pièce jointe | file allegato |
allegato | bestand bijgevoegd | bijgevoegd | bijlage | dosya ekli | eklendi | файл добавлен |
файл прикреплён | прикреплено | файл додано | файл прикріплено | долучено | załączono plik |
plik w załączniku | załączono | soubor byl přiložen | přiložený soubor | přiloženo |
fájl csatolva | csatolva | csatolmány | fișier atașat | atașat | συνημμένο αρχείο |
επισυνάφθηκε αρχείο | συνημμένο | fil bifogad | bifogad | vedhæftet fil | fil vedhæftet |
vedhæftet | fil vedlagt | vedlagt fil | vedlagt | tiedosto liitteenä | liitetiedosto | liite |
file terlampir | terlampir | fail dilampirkan | dilampirkan | tệp đính kèm | file đính kèm |
đính kèm | แนบไฟล์ | ไฟล์ที่แนบมา | แนบ | الملف مرفق | ملف مرفق | مرفق | קובץ מצורף |
הקובץ מצורף | מצורף | فایل پیوست شد | فایل پیوست شده است | پیوست | फ़ाइल संलग्न है |
फ़ाइल संलग्न | संलग्न | 添付ファイル | ファイル添付 | 添付 | 파일 첨부됨 | 파일 첨부 |
첨부 파일 | 첨부 | 文件附件 | 附件 | 附件檔案 | 檔案已附加 | 附件文件
""")

# Placeholders of messages whose content never reached the exporting phone.
UNSENT = _phrases("""
waiting for this message. this may take a while | waiting for this message |
warten auf diese nachricht | esperando el mensaje. esto puede tomar tiempo |
aguardando mensagem. essa ação pode levar alguns instantes | en attente du message |
in attesa del messaggio. potrebbe volerci un po' di tempo
""")

# Calls where no mark tells the app's words from a person's: whole texts only.
CALLED = _phrases("""
Missed voice call | Missed video call | Missed group voice call | Missed group video call |
Verpasster Sprachanruf | Verpasster Videoanruf | Llamada perdida | Llamada de voz perdida |
Videollamada perdida | Chamada de voz perdida | Chamada de vídeo perdida | Appel vocal manqué |
Appel vidéo manqué | Chiamata vocale persa | Videochiamata persa | Gemiste spraakoproep |
Gemiste video-oproep | Пропущенный аудиозвонок | Пропущенный видеозвонок
""")

LOCATION = _phrases("""
location | standort | ubicación | ubicacion | localização | localisation | position |
posizione | locatie | konum | местоположение | геопозиция | місцезнаходження | розташування |
lokalizacja | poloha | hely | locație | τοποθεσία | plats | placering | posisjon | sijainti |
lokasi | vị trí | ตำแหน่ง | ที่ตั้ง | الموقع | מיקום | موقعیت مکانی | लोकेशन | स्थान |
位置情報 | 위치 | 位置
""")

# Calls are events of the app, not words of a person.
CALLS = re.compile(
    "(?:missed|silenced) (?:group )?(?:voice|video) call|^(?:voice|video) call|"
    "verpasster (?:sprach|video)anruf|^(?:sprach|video)anruf|llamada (?:de voz )?perdida|"
    "videollamada|llamada de voz|chamada (?:de (?:voz|vídeo) )?(?:perdida|não atendida)|"
    "^(?:ligação|chamada) de (?:voz|vídeo)|appel (?:vocal|vidéo)|chiamata persa|"
    "(?:video)?chiamata|gemiste (?:spraak|video)oproep|cevapsız|пропущенный|пропущений|"
    "nieodebrane|zmeškan|nem fogadott|apel (?:vocal|video)|αναπάντητη|"
    "missat (?:röst|video)samtal|ubesvaret|tapt (?:tale|video)anrop|vastaamaton|panggilan|"
    "cuộc gọi|สายที่ไม่ได้รับ|مكالمة|שיחה שלא נענתה|تماس|मिस्ड|不在着信|부재중|未接|"
    "语音通话|語音通話|视频通话|視訊通話",
    re.IGNORECASE,
)

VIEW_ONCE = re.compile(
    "view once|einmalansicht|einmal ansehen|ver una (?:sola )?vez|visualização única|"
    "vue unique|visualizza una volta|eenmalig",
    re.IGNORECASE,
)

# Of the notice that a chat is end-to-end encrypted: words that stand in no other notice.
ENCRYPTED = re.compile(
    "end-to-end encrypt|ende-zu-ende-verschlüssel|cifrado de extremo a extremo|"
    "cifrados de extremo a extremo|criptografia de ponta a ponta|encriptadas? ponto a ponto|"
    "chiffrés? de bout en bout|crittografia end-to-end|crittografati end-to-end|"
    r"end-to-end versleuteld|uçtan uca şifre|сквозн\w+ шифрован|наскрізн\w+ шифруван|"
    r"szyfrowan\w+ end-to-end|w pełni szyfrowan|koncov\w+ šifrov|végpontok között|"
    "criptate integral|διατερματικ|totalsträckskrypter|end-to-end-kryptere|ende-til-ende|"
    "päästä päähän|terenkripsi secara end-to-end|ujung ke ujung|hujung ke hujung|disulitkan|"
    r"mã hóa đầu cuối|เข้ารหัสจากต้นทางถึงปลายทาง|تشفير\w* تام|مشفرة تمامًا|"
    "من الطرف إلى الطرف|מוצפנות מקצה לקצה|رمزگذاری سرتاسر|एंड-टू-एंड|エンドツーエンド|종단간 암호화|"
    "종단 간 암호화|端到端加密|端对端加密|端對端加密",
    re.IGNORECASE,
)

# Of notices about a group: who made it, who came and went, what it is called.
GROUP_EVENTS = re.compile(
    "created (?:this )?group|(?:you|was|were) added| added |changed the subject|"
    "changed (?:the|this) group|changed the group name|joined using| left$|hat die gruppe|"
    "hast die gruppe|hinzugefügt|den betreff|gruppennamen|cre[óo] (?:el|este) grupo|"
    "creaste (?:el|este) grupo|añadi[óo]|cambi[óo] el asunto|criou (?:o|este|esse) grupo|"
    "adicionou|mudou o nome|alterou o nome|créé (?:le|ce) groupe|a ajouté|"
    "a changé le (?:sujet|nom)|modifié le nom|creato il gruppo|ha aggiunto|"
    "ha cambiato l'oggetto|heeft (?:de )?groep|toegevoegd|onderwerp gewijzigd|"
    r"grubunu oluşturdu|ekledi|konuyu|созда\w+ группу|добавил|изменил\w* (?:тему|название)|"
    r"створи\w+ групу|додав|utworzył|dodał|zmienił\w* temat|vytvořil|přidal|létrehozta|"
    "hozzáadta|a creat grupul|a adăugat|δημιούργησε|πρόσθεσε|skapade gruppen|lade till|"
    "oprettede gruppen|tilføjede|opprettet gruppen|la til|loi ryhmän|lisäsi|membuat grup|"
    "menambahkan|mencipta kumpulan|menambah|đã tạo nhóm|đã thêm|สร้างกลุ่ม|เพิ่ม|أنشأ|أضاف|"
    "יצר|הוסיף|گروه|ने ग्रुप|जोड़ा|グループ|그룹|创建了|建立了|添加了|新增了|加入了|群组|群組",
    re.IGNORECASE,
)
