"""Names in scripts without capitals, where a title, or what somebody is to the speaker, tells that a name stands beside it. Pure.

Chinese, Japanese, Korean, Arabic, Hebrew and Hindi have no capitals, so `hybrid_memory.names` finds none of their names. What stands
beside 先生, さん, 씨, السيد or "my sister" is one; a name that never stands so is not found here.
"""

from __future__ import annotations

from collections.abc import Iterator

from hybrid_memory.lazy_pattern import LazyPattern

_SURNAMES = (
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘于蒋蔣蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜"
    "崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋方白邹鄒孟熊秦邱江尹薛闫段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴戴"
)
_KOREAN_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현"
    "함변염여추도소석선설마길연위표명기반왕금옥육인맹제모"
)
_PATTERNS = tuple(
    LazyPattern(pattern)
    for pattern in (
        rf"([{_SURNAMES}][\u4e00-\u9fff]{{0,2}}?)(?:先生|女士|小姐|老师|老師|医生|醫生|教授|经理|經理|同学|同學|阿姨|叔叔|师傅|師傅|律师|律師)",
        rf"(?:我叫|名叫|叫做|名字是|同事|朋友|妻子|丈夫|老婆|老公|儿子|兒子|女儿|女兒|姐姐|妹妹|哥哥|弟弟)([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?![\u4e00-\u9fff])",
        rf"(?:我叫|名叫|名字是)([{_SURNAMES}][\u4e00-\u9fff]{{1,2}})",
        r"(?<![\u4e00-\u9fff々お])(?!皆|奥|客|神|王|父|母|兄|姉|嫁|医者|店員|娘|息子)((?:(?![我你他她的们們是])[\u4e00-\u9fff々]){1,4}|[\u30a1-\u30fc]{2,10})(?:さん|さま|様|くん|君|ちゃん|先生|氏)",
        rf"(?<![가-힣])([{_KOREAN_SURNAMES}][가-힣]{{1,2}})\s?(?:씨|님|선생님|교수님|과장님|부장님|대리님)",
        r"(?<!\w)(?:اسمي|صديقي|صديقتي|أختي|أخي|ابني|ابنتي|زوجتي|زوجي|السيد|السيدة|الدكتور|الدكتورة|الأستاذ|الأستاذة|د\.)\s+([\u0621-\u064a]{2,12})",
        r"(?<!\w)(?:שמי|קוראים לי|חברי|חברתי|אחותי|אחי|בני|בתי|אשתי|בעלי|מר|גברת|גב'|ד\"ר|דוקטור)\s+([\u05d0-\u05ea]{2,12})",
        r"(?<!\w)([\u0900-\u0963\u0970-\u097f]{2,12})\s+जी(?!\w)",
        r"मेरा नाम\s+([\u0900-\u0963\u0970-\u097f]{2,12})",
    )
)


def titled_names(text: str) -> Iterator[str]:
    """Yield the names in a text that stand beside a title, in the order of the scripts; one may come twice."""
    if text.isascii():
        return
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            yield found[1]
