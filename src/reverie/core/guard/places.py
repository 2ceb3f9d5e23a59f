"""Well-known places: which names are cities and which countries, and which Chinese names are the same places.

Owns the gazetteer; promises one form for a place in both languages; a name that is not here is simply not known
to be a place. It lets a change of home be told from a change of detail (a city in a country, a quarter of a city).
"""

from __future__ import annotations

_CITIES = """amsterdam=阿姆斯特丹 athens=雅典 atlanta=亚特兰大 auckland=奥克兰 austin=奥斯汀 bangalore=班加罗尔
    bangkok=曼谷 barcelona=巴塞罗那 basel=巴塞尔 beijing=北京 belgrade berlin=柏林 bern=伯尔尼 bogota bonn
    boston=波士顿 brisbane=布里斯班 bristol brussels=布鲁塞尔 bucharest budapest=布达佩斯 cairo=开罗
    cambridge=剑桥 chengdu=成都 chennai chicago=芝加哥 chongqing=重庆 cologne=科隆 copenhagen=哥本哈根
    dalian=大连 dallas=达拉斯 delhi=德里 denver=丹佛 detroit dongguan=东莞 dresden dubai=迪拜 dublin=都柏林
    dusseldorf edinburgh=爱丁堡 frankfurt=法兰克福 fuzhou=福州 geneva=日内瓦 glasgow graz guangzhou=广州
    hamburg=汉堡 hangzhou=杭州 hanoi=河内 harbin=哈尔滨 hefei=合肥 helsinki=赫尔辛基 hongkong=香港
    houston=休斯敦 hyderabad istanbul=伊斯坦布尔 jakarta=雅加达 jinan=济南 johannesburg kiev kunming=昆明
    kyiv=基辅 kyoto=京都 lagos lausanne leeds leipzig lima lisbon=里斯本 liverpool=利物浦 ljubljana london=伦敦
    losangeles=洛杉矶 lyon=里昂 madrid=马德里 manchester=曼彻斯特 manila=马尼拉 marseille melbourne=墨尔本
    miami=迈阿密 milan=米兰 minneapolis montreal=蒙特利尔 moscow=莫斯科 mumbai=孟买 munich=慕尼黑 nagoya nairobi
    nanjing=南京 naples ningbo=宁波 nice newyork=纽约 osaka=大阪 oslo=奥斯陆 ottawa=渥太华 oxford=牛津
    paris=巴黎 perth philadelphia=费城 phoenix pittsburgh porto=波尔图 portland=波特兰 prague=布拉格 pune
    qingdao=青岛 riga rome=罗马 rotterdam salzburg sandiego=圣地亚哥 sanfrancisco=旧金山 santiago
    saopaulo=圣保罗 sarajevo seattle=西雅图 seoul=首尔 shanghai=上海 shenyang=沈阳 shenzhen=深圳
    singapore=新加坡 sofia stockholm=斯德哥尔摩 stuttgart=斯图加特 suzhou=苏州 sydney=悉尼 taipei=台北 tallinn
    telaviv tianjin=天津 tokyo=东京 toronto=多伦多 turin vancouver=温哥华 venice=威尼斯 vienna=维也纳 vilnius
    warsaw=华沙 washington=华盛顿 wuhan=武汉 wuxi=无锡 xiamen=厦门 xian=西安 zagreb zhengzhou=郑州 zhuhai=珠海
    zurich=苏黎世 aachen aarhus aberdeen abudhabi=阿布扎比 adelaide=阿德莱德 albany albuquerque alexandria algiers
    almaty=阿拉木图 amman anchorage ankara=安卡拉 antwerp=安特卫普 asheville astana=阿斯塔纳 augsburg bali=巴厘岛
    baltimore=巴尔的摩 bandung baku beirut belfast bergen=卑尔根 bielefeld bilbao=毕尔巴鄂 birmingham=伯明翰 bochum
    boise bologna=博洛尼亚 bordeaux=波尔多 boulder bratislava bremen=不来梅 brno bruges=布鲁日 buenosaires calgary
    canberra=堪培拉 capetown=开普敦 caracas cardiff=加的夫 casablanca chiangmai=清迈 cincinnati cleveland
    cluj coimbra cork cordoba coventry curitiba cusco dakar damascus darmstadt daejeon debrecen delft doha=多哈
    dortmund duisburg durban dundee eindhoven=埃因霍温 erfurt essen exeter fes fukuoka=福冈 galway
    gdansk genoa=热那亚 ghent=根特 goa gothenburg=哥德堡 gottingen granada grenoble groningen guadalajara haarlem
    haifa halifax hannover heidelberg=海德堡 hiroshima=广岛 hobart honolulu=火奴鲁鲁 indianapolis innsbruck
    invercargill jena jerusalem=耶路撒冷 kanazawa karlsruhe kassel kathmandu=加德满都 kaunas kiel kobe=神户 kolkata
    kosice krakow=克拉科夫 kualalumpur=吉隆坡 lahore lasvegas=拉斯维加斯 leicester leiden=莱顿 leuven liege lille=里尔
    limerick linz ljubljana lodz lubeck lucerne luxembourg=卢森堡 luzern maastricht malaga malmo=马尔默
    mannheim marrakech medellin memphis mexicocity=墨西哥城 milwaukee minsk=明斯克 montevideo montpellier munster
    muscat nantes nashville neworleans=新奥尔良 newcastle nicosia nijmegen norwich nottingham nuremberg=纽伦堡 oakland
    odense odessa oulu palermo palma phnompenh=金边 plovdiv plymouth portoalegre potsdam poznan quebec=魁北克
    quito rabat raleigh reykjavik=雷克雅未克 riyadh=利雅得 rostock sacramento saltlakecity sanantonio sanjose=圣何塞
    santabarbara sapporo=札幌 seville=塞维利亚 sheffield=谢菲尔德 southampton stavanger strasbourg=斯特拉斯堡
    szeged tampa tampere tartu tbilisi=第比利斯 tehran=德黑兰 thessaloniki thehague=海牙 timisoara tirana
    toulouse=图卢兹 trieste trondheim tucson tunis turku uppsala utrecht=乌得勒支 valencia=瓦伦西亚 valletta verona
    wellington=惠灵顿
    wiesbaden winnipeg wroclaw wurzburg yangon yerevan=埃里温 yokohama=横滨
    baoding=保定 baotou=包头 beihai=北海 changchun=长春 changsha=长沙 changzhou=常州 dali=大理 foshan=佛山 guilin=桂林
    guiyang=贵阳 haikou=海口 handan=邯郸 hohhot=呼和浩特 huizhou=惠州 huzhou=湖州 jiaxing=嘉兴 jinhua=金华 kashgar=喀什
    lanzhou=兰州 lhasa=拉萨 lijiang=丽江 linyi=临沂 liuzhou=柳州 luoyang=洛阳 mianyang=绵阳 nanchang=南昌 nanning=南宁
    nantong=南通 quanzhou=泉州 sanya=三亚 shantou=汕头 shaoxing=绍兴 shijiazhuang=石家庄 taiyuan=太原 taizhou=台州
    tangshan=唐山 urumqi=乌鲁木齐 weifang=潍坊 wenzhou=温州 wuhu=芜湖 xining=西宁 xuzhou=徐州 yangzhou=扬州 yantai=烟台
    yichang=宜昌 yinchuan=银川 zhangzhou=漳州 zhenjiang=镇江 zhongshan=中山 zhoushan=舟山 zibo=淄博 zunyi=遵义
    kaohsiung=高雄 taichung=台中 tainan=台南 macau=澳门"""
_COUNTRIES = """argentina=阿根廷 australia=澳大利亚 austria=奥地利 belgium=比利时 brazil=巴西 bulgaria
    canada=加拿大 chile=智利 china=中国 colombia croatia czechia denmark=丹麦 egypt=埃及 england=英格兰 estonia
    finland=芬兰 france=法国 germany=德国 greece=希腊 hungary=匈牙利 iceland=冰岛 india=印度 indonesia=印尼 iran
    ireland=爱尔兰 israel=以色列 italy=意大利 japan=日本 kenya korea=韩国 latvia lithuania malaysia=马来西亚
    mexico=墨西哥 morocco nepal netherlands=荷兰 newzealand=新西兰 nigeria norway=挪威 pakistan peru
    philippines=菲律宾 poland=波兰 portugal=葡萄牙 romania russia=俄罗斯 scotland=苏格兰 serbia slovakia
    slovenia southafrica spain=西班牙 sweden=瑞典 switzerland=瑞士 taiwan=台湾 thailand=泰国 turkey=土耳其
    ukraine=乌克兰 uk=英国 usa=美国 vietnam=越南 wales"""


def _read(text: str) -> dict[str, str]:
    return {name: item.partition("=")[0] for item in text.split() for name in item.split("=") if name}


CITIES: dict[str, str] = _read(_CITIES)
COUNTRIES: dict[str, str] = _read(_COUNTRIES)
PLACES: dict[str, str] = CITIES | COUNTRIES
TWO_WORDS = {
    "new york": "newyork",
    "los angeles": "losangeles",
    "hong kong": "hongkong",
    "san francisco": "sanfrancisco",
    "san diego": "sandiego",
    "sao paulo": "saopaulo",
    "tel aviv": "telaviv",
    "abu dhabi": "abudhabi",
    "buenos aires": "buenosaires",
    "cape town": "capetown",
    "chiang mai": "chiangmai",
    "kuala lumpur": "kualalumpur",
    "las vegas": "lasvegas",
    "mexico city": "mexicocity",
    "new orleans": "neworleans",
    "phnom penh": "phnompenh",
    "salt lake city": "saltlakecity",
    "san antonio": "sanantonio",
    "san jose": "sanjose",
    "santa barbara": "santabarbara",
    "the hague": "thehague",
    "new zealand": "newzealand",
    "south africa": "southafrica",
    "south korea": "korea",
    "united states": "usa",
    "united kingdom": "uk",
}


def level(name: str) -> str:
    """Return `city`, `country` or `` for a name in lower case or Chinese."""
    plain = name.replace(" ", "")
    if plain in CITIES:
        return "city"
    return "country" if plain in COUNTRIES or name in TWO_WORDS else ""
