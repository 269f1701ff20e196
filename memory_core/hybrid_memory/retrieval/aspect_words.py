"""The words by which aspects are told, as `aspects.fold` leaves them, and how a sentence is searched for them.

Lists alone: which rule reads which list, and in which order, is in ``aspects.py``. Who changes a list raises
`hybrid_memory.encoding.word_encoding.ENCODING`, so that stores make their aspects again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybrid_memory.language.languages import word_set

if TYPE_CHECKING:
    from hybrid_memory.retrieval.aspects import Sentence

BEGINNING_LETTERS = 4  # by which beginnings of words are looked up; none is shorter


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of an aspect: whole words, beginnings of words, phrases between blanks, and character strings of dense scripts.

    Most sentences have none of its ``triggers`` (`_triggers_of`), and then no word, beginning or phrase.
    """

    words: frozenset[str]
    beginnings: tuple[str, ...]
    phrases: tuple[str, ...]
    characters: tuple[str, ...]
    triggers: frozenset[str]

    def first(self, sentence: Sentence) -> int | None:
        """Return the place of the first word that is a mark, 0 for a phrase or characters, None without any."""
        if not self.triggers.isdisjoint(sentence.triggers):
            place = self._first_word(sentence.words)
            place = self._phrase(sentence.flat) if place is None else place
            if place is not None:
                return place
        if sentence.dense and any(one in sentence.text for one in self.characters):
            return 0
        return None

    def _first_word(self, words: Sequence[str]) -> int | None:
        for place, word in enumerate(words):
            if word in self.words or (self.beginnings and word.startswith(self.beginnings)):
                return place
        return None

    def _phrase(self, flat: str) -> int | None:
        for phrase in self.phrases:
            at = flat.find(phrase)
            if at >= 0:
                return flat.count(" ", 0, at)
        return None

    def within(self, sentence: Sentence) -> bool:
        """Return True if a mark is in the sentence."""
        return self.first(sentence) is not None


def _marks(words: str = "", beginnings: str = "", phrases: str = "", characters: str = "") -> Marks:
    """Make marks of words between blanks, phrases between commas, and character strings between blanks."""
    between = [phrase.strip() for phrase in phrases.replace("\n", " ").split(",") if phrase.strip()]
    triggers = {
        *words.split(),
        *(beginning[:BEGINNING_LETTERS] for beginning in beginnings.split()),
        *(" ".join(phrase.split()[:2]) for phrase in between),
    }
    return Marks(
        frozenset(words.split()),
        tuple(beginnings.split()),
        tuple(f" {phrase} " for phrase in between),
        tuple(characters.split()),
        frozenset(triggers),
    )


HEALTH = _marks(
    words="""
        blutverdunner heuschnupfen asthma asma adhd autistic autism dyslexic enceinte insulin insulina insuline epipen
        wheelchair
    """,
    beginnings="""
        allergi allergy alergi intoleran unvertraglich diabet asthmat asmat epilep coeliac celiac celiaq coeliaq
        zoliak anaphyla migraine migran pregnan schwanger embarazad laktose lactose medikament medicament medication
        hypertens bluthochdruck herzschrittmacher
    """,
    phrases="""
        cannot eat, can't eat, must not eat, not allowed to eat, cannot take, can't take, blood thinners, hearing aid,
        bad back, bad knee, must not lift, hay fever, vertragt kein, vertragt keine, vertragt keinen, vertrage kein,
        vertrage keine, ne supporte pas, ne peut pas manger, no puede comer, no tolera, no puede tomar,
        blood pressure, blood type, heart condition, tension arterielle, presion arterial
    """,
    characters="花粉症 过敏 過敏 糖尿病 哮喘 喘息 ぜんそく アレルギー 怀孕 懷孕 妊娠 高血压 高血圧",
)
DECISIONS = _marks(
    words="""
        vereinbart einigten decided decision chose opted beschlossen entschieden entschied entscheidung festgelegt
        geeinigt decidimos decidi decidio acordamos acordado elegimos elegi choisi convenu adopted
    """,
    beginnings="decide-",
    phrases="""
        we'll take, we will take, we're going with, it was decided, agreed to, voted for, voted to, final choice,
        es bleibt bei, es bleibt beim, bleibt es bei, wir bleiben bei, on prendra, on prend, on garde, est decide,
        c est decide, ont decide, nos quedamos con, quedamos en, avons decide, we will use, we use,
        we went with, went with, going with, go with, revised, settled on, agreed on, agreed to use, agreed that,
        we agreed, we picked, switched to, switched back to, we switched, moved from, migrated to, decided against,
        wir nehmen, wir nutzen, wir verwenden, on a decide, nous avons decide, j ai decide, a decide, ai decide,
        avons opte, on utilise, hemos decidido, he decidido, ha decidido, vamos a usar, usaremos, se decidio,
        nous utilisons
    """,
    characters="选择 决定 決定 決めた 決めました 决议 選ぶことにした することにした ことにしました",
)
UNDECIDED = _marks(
    phrases="""
        not decided, undecided, not yet decided, haven't decided, hasn't decided, can't decide,
        noch nicht entschieden, noch nicht beschlossen, pas encore decide, aun no decid, to be decided, must decide,
        need to decide, needs to decide, have to decide, decide whether, decision pending
    """,
    words="undecided",
    characters="还没决定 未定 まだ決",
)
REMINDERS = _marks(
    words="todo recuerdame rappelle-moi",
    phrases="""
        to do, to-do, remind me, remind us, remind the user, reminder to, don't forget, do not forget,
        don't let me forget, remember to, must not forget, mustn't forget, shouldn't forget,
        should not forget, erinnere mich, erinner mich, erinnere uns, nicht vergessen,
        denk daran, denk dran, rappelle moi, rappelez moi, n oublie pas, n oubliez pas, ne pas oublier, pense a,
        penser a, no olvides, no olvidar, recordarme, no te olvides, action item, zu erledigen, a faire, por hacer,
        noch zu tun
    """,
    characters="提醒我 别忘 別忘 不要忘 记得 記得 待办 待辦 思い出させて 忘れないで 忘れずに リマインド やること",
)
OPEN_STATES = _marks(
    words="""
        fallig promised promise owes owe pending outstanding deadline versprochen verspreche aussteht ausstehend
        promis pendiente pendientes prometio prometi prometido
    """,
    phrases="""
        next step, next steps, waiting on, is due, are due, ist fallig, sind fallig, a rendre, a payer, a rappeler,
        to return, don't let, has promised, hat versprochen, a promis, still open, due on, due by, follow up,
        waiting for, action required, noch offen, steht noch aus, steht aus, en attente, quedan por, queda por,
        reste a
    """,
)
APPOINTMENTS = _marks(words="appointment termin rendez-vous cita", phrases="rendez vous")
DUTIES = _marks(
    phrases="""
        got to, ich soll, wir sollen,
        still has to, still have to, still needs to, need to, needs to, have to, has to, must, i'll, i will, we will,
        we'll, ought to, should, still to, due, plans to, planning to, plan to, intends to, will send, will call,
        will bring, muss noch, mussen noch, ich muss, wir mussen, muss, soll noch, sollte noch, offen, steht noch,
        will noch, wollen noch, mochte noch, habe vor, je dois, on doit, nous devons, doit, dois, il faut, faut,
        tengo que, tiene que, tenemos que, hay que, debo, debemos, debe, falta, faltan
    """,
    characters="需要 必须 必須 要去 还要 還要 答应 しなければ しないと 必要がある 予定 約束 までに",
)
NOT_YET = _marks(
    phrases="""
        not done, not yet, not finished, isn't done, isn't finished, hasn't been, haven't been, not paid,
        still unpaid, noch nicht, nicht erledigt, nicht fertig, pas encore, pas fini, pas termine, todavia no, aun no,
        sin terminar, sin pagar
    """,
    characters="未完成 还没 還沒 まだ終わっ まだし",
)
FINISHED = _marks(
    words="""
        done finished completed erledigt fertig abgeschlossen erledigen-ist termine terminee hecho hecha terminado
        terminada listo lista resolved solved cancelled canceled abgesagt annule anulado cancelado settled
    """,
    phrases="""
        taken care of, no longer needed, no longer necessary, not needed any more, wrapped up, c est fait, est fait,
        est faite, ya esta, hat sich erledigt, ist erledigt, a ete fait
    """,
    characters="完成了 已完成 做完 办好 辦好 搞定 好了 完了 済み 済んだ 済ませ 終わった 終わりました 終えた",
)
DONE_DEEDS = _marks(
    words="""
        called phoned rang bought sent paid booked fixed shipped submitted delivered closed merged ordered renewed
        returned emailed mailed picked collected repaired replied signed filed uploaded published posted handed
        cleaned invited confirmed informed told angerufen gekauft geschickt gesendet bezahlt gebucht repariert
        bestellt verlangert abgeholt eingereicht geliefert abgegeben unterschrieben verschickt beantwortet besorgt
        erneuert appele achete envoye paye reserve repare commande renouvele recupere signe livre depose llamado llame
        comprado compre enviado envie pagado pague reservado reparado pedido renovado recogido firmado entregado
    """,
    characters="已经 買った 買いました 電話した 電話しました 送った 送りました 払った 払いました 打了 买了 寄了 付了",
)
IDENTITY = _marks(
    words="""
        surname nickname birthday geburtstag anniversaire cumpleanos beruf wohnhaft pronouns verheiratet geschieden
        married divorced casado casada timezone hometown
    """,
    phrases="""
        grew up, studies law, studies medicine, studies at, my flat, my house, i run a, runs a, owns a,
        twin brother, twin sister, lives near, live near, lives at, lebt seit, wohnt seit, wohnt bei, zwei tochter,
        zwei sohne, drei tochter, drei sohne, habite depuis, habitent, vit depuis, travaille dans, trabaja para,
        vive desde, deux filles, deux fils, eine tochter, einen sohn, une fille et, un fils et, my name, name is,
        user's name, i am called, i'm called, is called, is named, call me, first name, last name, live in, lives in,
        living in, lived in, based in, i am from, i'm from, is from, comes from, come from, born in, born on,
        moved to, years old, work as, works as, working as, work at, works at, work for, works for, i work in,
        works in, job is, profession is, is employed, employed at, i study, is studying, time zone, native language,
        mother tongue, native speaker, speaks, i speak, has two children, two children, three children, has a son,
        has a daughter, has two, has three, is married, ich heisse, mein name, heisst, ich wohne, wohnt in, wohne in,
        lebe in, lebt in, wir wohnen, wir leben, ich komme aus, kommt aus, geboren, jahre alt, arbeite als,
        arbeitet als, arbeite bei, arbeitet bei, von beruf, muttersprache, spreche, spricht, zwei kinder, drei kinder,
        habe kinder, m appelle, s appelle, mon nom, mon prenom, j habite, habite a, habite en, nous habitons, je vis,
        vit a, ne a, nee a, nee en, ne en, marie avec, mariee, travaille comme, travaille chez, je travaille,
        langue maternelle, je parle, parle, deux enfants, trois enfants, me llamo, se llama, mi nombre, vivo en,
        vive en, vivimos en, naci en, nacio en, trabajo como, trabaja como, trabajo en, trabaja en, trabajo de,
        lengua materna, hablo, habla, dos hijos, tres hijos, dos hijas, anos de edad, tiene anos
    """,
    characters="""
        我叫 我的名字 我住 住在 我来自 我來自 职业 職業 工作是 我是一 结婚 結婚 生日 女儿叫 儿子叫 用户叫 用户是
        私の名前 名前は と申します 住んで 出身 働いて 誕生日 娘の名 息子の名
    """,
)
NO_IDENTITY = (
    " moved to production ",
    " moved to the ",
    " moved to a ",
    " was moved to ",
    " is moved to ",
    " name is taken ",
    " branch name ",
    " file name ",
    " speaks for ",
)
PREFERENCES = _marks(
    words="""
        tutoyer duzt duzen siezen geduzt gesiezt prefer prefers preferred prefering preference preferences favourite
        favorite favourites favorites dislikes dislike hates hate loves enjoys likes adores vegetarian vegan
        vegetarier vegetarierin veganer veganerin vegetariano vegetariana vegano vegana vegetarien vegetarienne vegane
        kosher halal pescatarian teetotal lieblings gernsten mag hasst hasse aime adore deteste favori preferee
        encanta odia odio preferido preferida favorito favorita
    """,
    beginnings="bevorzug lieblings prefier prefere vorliebe",
    phrases="""
        asks for, insists on, does not want, doesn't want, do not want, would like to be, wants to be called,
        british spelling, american spelling, metric units, keep the tone, call the user, in answers, in antworten,
        kurz antworten, bitte kurz, mochte kein, mochte keine, mochte keinen, wunscht, wunscht sich, will kein,
        will keine, ne veut pas, ne veut plus, no quiere, le molesta, le molestan, dans les reponses,
        en las respuestas, merci de, i like, i love, i enjoy, we like, user like, don't like, doesn't like,
        do not like, does not like, can't stand, cannot stand, would rather, rather than, no longer drinks,
        no longer eats, no longer likes, no longer uses, no longer wants, no longer drink, no longer eat,
        no longer like, no longer use, no longer want, doesn't drink, doesn't eat, don't drink, don't eat,
        does not eat, does not drink, never eats, never drinks, from now on answer, from now on use,
        from now on write, from now on reply, from now on call, always answer, always reply, always use, always write,
        never use, never answer, never write, please always, please never, wants answers, wants replies, wants short,
        answer in, answers in, reply in, replies in, respond in, write in, be brief, keep answers, keep it short,
        drinks only, only drinks, only eats, gave up, lieber, am liebsten, gerne, trinkt kein, trinkt keine,
        trinkt keinen, isst kein, isst keine, trinke kein, trinke keine, trinke keinen, esse kein, esse keine,
        nicht mehr, immer auf, bitte immer, bitte nie, nur noch, antworten auf, j aime, n aime pas, n aime plus,
        ne mange pas, ne boit pas, ne boit plus, ne mange plus, ne bois plus, ne bois pas, ne mange, plutot que,
        reponses en, repondre en, reponds en, reponds toujours, toujours repondre, me gusta, me gustan, le gusta,
        le gustan, nos gusta, ya no bebe, ya no come, ya no toma, ya no bebo, ya no como, ya no tomo, ya no usa,
        ya no quiere, no come, no bebe, no toma, no como, no bebo, no tomo, responde siempre, responder en,
        respuestas en
    """,
    characters="""
        喜欢 喜歡 偏好 讨厌 討厭 不吃 不喝 宁愿 最爱 更愿意 不再喝 不再吃 好き 嫌い 苦手 好む 好み 食べない 飲まない 飲みません 食べません
    """,
)
NO_PREFERENCE = (
    " would like to ",
    " i'd like to ",
    " looks like ",
    " sounds like ",
    " feels like ",
    " nicht mehr lange ",
    " like to book ",
)
HABITS = _marks(
    words="""
        usually always never typically often plays collects normalerweise meistens immer spielt d'habitude
        habituellement toujours joue normalmente siempre suele juega
    """,
    phrases="""
        wants to learn, hopes to, dreams of, every morning, every day, every evening, every week, used to,
        is learning, jeden morgen, jeden tag, jede woche, chaque matin, chaque semaine, cada manana, cada semana,
        tous les matins
    """,
    characters="每天 每周 毎日 毎朝 毎週",
)
REVERSALS = _marks(
    words="instead stattdessen reverted abandoned revised",
    phrases="""
        no longer, not any more, anymore, any more, go back to, going back to, back to, switched to, switched back,
        switch to, instead of, changed our mind, changed my mind, changed her mind, changed his mind, after all,
        decided against, gave up, stopped, nicht mehr, doch wieder, zuruck zu, statt, ne plus, n aime plus,
        ne boit plus, ne mange plus, ne bois plus, revenir a, retour a, au lieu de, ya no, volver a, volvemos a,
        en lugar de, en vez de, dejo de, doch lieber, replaces, replaced
    """,
    characters="不再 改用 改成 改为 戻す 戻し やめた やめました 代わりに",
)
TASK_VERBS = word_set("""
        call phone buy send book pay order fix renew check prepare return cancel invite finish review submit email
        mail ask pick collect clean repair schedule arrange reply sign file upload publish deliver organise organize
        register appeler acheter envoyer payer reserver commander renouveler preparer finir rappeler recuperer reparer
        ecrire livrer demander llamar comprar enviar pagar reservar pedir renovar preparar terminar recoger reparar
        escribir entregar preguntar mandar
    """)
BEHIND_NOUNS = word_set("for of is was has in on at from and works lives with was were are del de la")
GERMAN_INFINITIVES = word_set("""
        anrufen kaufen schicken buchen bezahlen bestellen verlangern abholen besorgen reparieren fragen schreiben
        erledigen vorbereiten absagen einladen liefern abgeben einreichen unterschreiben zahlen senden mitbringen
        verschicken fertigstellen
    """)
WISHES = word_set("wants veut voudrait quiere")
OF_DEEDS = word_set("to que qu")
INFINITIVE_ENDINGS = ("er", "ir", "ar", "re")
INTENTS = _marks(phrases="wants to, want to, would like to, mochte, voudrait, veut, quiere")
DEADLINES = word_set("""
    by until before till bis vor avant antes friday monday tomorrow freitag montag morgen demain manana
""")
BEING = word_set("am is i'm was are bin ist bist suis est soy es he's she's")
PROFESSIONS = _marks(
    words="""
        chef cook pilot vet writer author artist ceo cto founder retired freelancer freelance surgeon midwife judge
    """,
    beginnings="""
        engineer developer programmer dispatcher chauffeur driver mechanic gardener cellist violinist pianist singer
        verkauf vendeu secretaire sekretar disponent transportist cuisini gartner jardini teacher nurse doctor
        lawyer designer architect accountant carpenter electrician plumber musician photograph journalist student
        professor scientist researcher analyst consultant manager director librarian pharmacist translator dentist
        therapist psycholog biolog chemist physicist baker farmer potter weaver blacksmith goldsmith bookbinder
        luthier tailor lehrer krankenschwester krankenpfleger arzt arztin ingenieur entwickler schreiner tischler
        topfer weber schmied goldschmied backer buchbinder schneider anwalt kunstler handwerker musiker architekt
        infirmier medecin professeur developpeur menuisier potier potiere tisserand boulanger avocat artisan relieur
        couturi etudiant enfermer medic profesor ingenier desarrollador carpinter alfarer ceramista tejedor panader
        abogad artesan encuadernador estudiante maestr
    """,
)
POSSESSIVES = word_set("""
        my our user's mein meine meinen meiner unser unsere mon ma mes notre nos mi mis nuestro nuestra nuestros users
        utilisateur utilisatrice
    """)
RELATIVES = word_set("""
        wife husband spouse partner girlfriend boyfriend fiance fiancee daughter daughters son sons child children kid
        kids baby mother father mum mom dad parents brother sister siblings grandmother grandfather grandma grandpa
        aunt uncle cousin niece nephew dog cat frau mann ehefrau ehemann partnerin freundin freund tochter sohn kind
        kinder mutter vater eltern bruder schwester oma opa tante onkel hund katze femme mari epouse conjoint compagne
        compagnon fille fils enfant enfants mere pere parents frere soeur grand-mere chien chat mujer esposa esposo
        marido pareja hija hijo hijos hijas madre padre padres hermano hermana abuela abuelo perro gato
    """)
FIRST_PERSON = word_set("""
        i i'm i've i'd i'll my mine we we're we've we'll our ours ich mein meine meinen meinem meiner mir mich wir uns
        unser unsere je j mon ma mes moi nous notre nos yo mi mis nosotros nosotras nuestro nuestra soy vivo trabajo
        prefiero tengo odio bebo necesito debo decidimos acordamos usamos elegimos hemos llamo gusta tenemos vivimos
        hablo naci decidi
    """)
USER_WORDS = word_set(
    "user user's nutzer nutzerin nutzers benutzer benutzerin utilisateur utilisatrice usuario usuaria human"
)
SELF = word_set("me i myself ich moi yo owner 我 私 用户 ユーザー")
ARTICLES = word_set("the der die dem den des l la el al le un una our my this")
USER_COMPOUNDS = word_set("""
        table tables interface story stories id ids account accounts data guide service model input group groups
        management list record records session sessions name names agent experience testing tests manual
    """)
USER_IN_CJK = ("用户", "用戶", "ユーザー")
OTHERS_IN_CJK = ("他", "她", "彼", "さん", "先生", "同事", "同学")
ADVERBS = word_set("""
        no always never still also usually really strongly currently now generally does doesn't has is not no-longer
        ya no le ne immer nie nur please bitte very highly severely lightly mildly
    """)
NO_NAMES = word_set("""
        i i'm i've i'd i'll we the a an my our his her their he she it they this that these and but also please always
        never no not ich wir der die das er sie es mein meine je j il elle on nous le la les un une mon ma el los las
        yo ella mi today yesterday tomorrow now since heute gestern jetzt aujourd hui hoy ayer ahora team everyone
        everybody
    """)
TRIGGERS = frozenset(
    trigger for marks in tuple(globals().values()) if isinstance(marks, Marks) for trigger in marks.triggers
)
"""Those of all marks; most sentences have none."""
