"""What the general examples are about: small tables of plain knowledge, one row a line."""

from __future__ import annotations

Row = dict[str, str]


def table(columns: str, text: str) -> tuple[Row, ...]:
    """Rows of a text with a bar between the columns; a backslash continues a line."""
    names = columns.split()
    rows = [
        [" ".join(cell.split()) for cell in line.split("|")] for line in text.strip().splitlines()
    ]
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


CONCEPTS = table(
    "term is use example",
    """
    a bridge | a structure that carries a road or a path over a river, a valley or another road | \
      it lets people and goods cross without a detour | a stone bridge over a small stream
    a lever | a stiff bar that turns around a fixed point \
      | it makes it easier to lift something heavy | a seesaw on a playground
    a budget | a plan for how money will be earned and spent \
      | it helps to avoid spending more than there is | a list of rent, food and savings for a month
    a compass | an instrument with a needle that points to the north \
      | it helps people to find their way | a hiker checking the direction in a forest
    a glacier | a large mass of ice that moves slowly downhill \
      | it stores fresh water and shapes valleys | the ice in a high mountain valley
    a metaphor | a figure of speech that describes one thing as if it were another \
      | it makes a text more vivid | the words "time is a thief"
    a library | a place where books and other media are collected and lent \
      | it gives everybody access to knowledge | the reading room in a town
    an algorithm | a list of clear steps that solves a problem \
      | it lets a person or a computer repeat the solution | a recipe for sorting cards
    a vaccine | a preparation that trains the body to fight a disease \
      | it protects people before they fall ill | the injection against measles
    a thermometer | an instrument that measures temperature \
      | it tells how warm or cold something is | the one used to check for a fever
    a contract | an agreement between people that the law recognises \
      | it makes clear what each side has to do | the papers signed when renting a flat
    a map | a drawing of a place seen from above \
      | it helps people to find their way and to plan | a plan of the streets of a city
    a volcano | an opening in the ground through which hot rock and gas come out \
      | it forms new land over a long time | a mountain with a crater at its top
    a democracy | a form of government in which the people choose who governs \
      | it gives citizens a say in decisions | a country with free elections
    a habitat | the place where a plant or an animal naturally lives \
      | it offers food, water and shelter | a pond for frogs
    a filter | a device that lets some things pass and holds others back \
      | it cleans water, air or data | the paper in a coffee machine
    a password | a secret word that proves who somebody is \
      | it protects an account from strangers | the word typed to open an email account
    a loan | money that is borrowed and has to be paid back \
      | it lets people buy something before they have saved for it \
      | money from a bank to buy a house
    a telescope | an instrument that makes distant things look nearer \
      | it is used to study stars and planets | the large ones on mountain tops
    a rumour | a story that is passed on without proof \
      | it spreads quickly because people like to talk | gossip about a new teacher
    a harbour | a place by the water where ships are safe \
      | it is used to load and unload goods | the basin of a fishing town
    a calendar | a table of the days, weeks and months of a year \
      | it helps to plan and to remember dates | the sheet on a kitchen wall
    a database | an ordered collection of information on a computer \
      | it lets people store and find records quickly | the list of all books in a shop
    a fossil | the remains or the trace of something that lived long ago \
      | it tells us about life in the past | the print of a shell in stone
    a recipe | a list of ingredients and steps for a dish \
      | it helps people to cook something again in the same way | instructions for a vegetable soup
    an orchestra | a large group of musicians who play together \
      | it performs music that needs many instruments | the players in a concert hall
    a hypothesis | an idea that can be tested | it guides an experiment \
      | the guess that plants grow faster in the sun
    a tax | money that people and firms pay to the state \
      | it pays for schools, roads and hospitals | a part of every wage
    a battery | a device that stores energy and gives it off as electricity \
      | it powers things that are not plugged in | the cell in a torch
    a drought | a long time with little or no rain \
      | it is a danger to crops, animals and people | a dry summer in which rivers run low
    a proverb | a short saying that passes on advice | it gives experience in a few words \
      | the words "better late than never"
    a pulley | a wheel with a rope around it | it makes it easier to lift loads \
      | the wheel at the top of a crane
    a museum | a house in which interesting objects are kept and shown \
      | it helps people to learn about art, nature or history | a collection of old trains
    a desert | a region where very little rain falls \
      | it is home to plants and animals that need little water | a plain of sand and stones
    a diary | a book in which somebody writes about each day \
      | it helps to remember and to think | notes written every evening
    a vote | a formal choice between several options | it lets a group decide together \
      | raising hands in a meeting
    an island | a piece of land with water all around it | it can be a home for rare animals \
      | a small one in a lake
    a router | a device that passes data between networks | it connects a home to the internet \
      | the box beside a telephone socket
    inflation | a general rise in prices over time | it means that the same money buys less \
      | bread that costs more every year
    recycling | the use of old material to make something new \
      | it saves raw material and energy | melting old bottles to make new ones
    gravity | the force by which masses attract each other \
      | it keeps us on the ground and the moon in its path | an apple falling from a tree
    photosynthesis | the process by which plants make sugar from light, water and air \
      | it feeds the plant and gives off oxygen | a leaf in the sun
    evaporation | the change of a liquid into a gas | it dries things and forms clouds \
      | a puddle that disappears in the sun
    patience | the ability to wait calmly | it helps when something takes a long time \
      | waiting for a late bus without anger
    erosion | the wearing away of soil and rock by water, wind or ice \
      | it shapes valleys and coasts | a river cutting into its bank
    """,
)

PAIRS = table(
    "a b ofa ofb both",
    """
    a lake | a river | stands still in a basin | flows toward the sea | hold fresh water
    a violin | a guitar | is mostly played with a bow | is plucked with the fingers | have strings
    a novel | a poem | tells a long story in prose | says much in few lines \
      | are works of literature
    a bus | a train | drives on roads | runs on rails | carry many passengers
    a frog | a lizard | has moist skin and lives near water | has dry scales and likes the sun \
      | are animals that do not keep themselves warm
    a fork | a spoon | has tines to pick things up | has a bowl for soups | are used for eating
    weather | climate | is what happens from day to day | is the usual weather over many years \
      | are about temperature, wind and rain
    a lawyer | a judge | speaks for one side | decides between the sides | work with the law
    a boat | a ship | is small and stays near the shore | is large and crosses oceans \
      | travel on water
    a city | a village | has many people and busy streets | has few people and quiet streets \
      | are places where people live
    butter | margarine | is made from cream | is mostly made from plant oil | are spread on bread
    a moth | a butterfly | mostly flies at night | flies by day | have four wings
    a road | a path | is wide and made for cars | is narrow and made for walking \
      | lead from one place to another
    a rumour | a fact | is passed on without proof | can be checked \
      | are things people tell each other
    coffee | tea | is made from roasted beans | is made from leaves | are hot drinks
    a pencil | a pen | can be rubbed out | leaves ink that stays | are used for writing
    a sketch | a painting | is quick and rough | is finished and full of colour | are pictures
    a hill | a mountain | is low and easy to climb | is high and often steep \
      | rise above the land around them
    """,
)

STEPS = table(
    "task one two three four five",
    """
    boil an egg | Bring water to the boil in a small pot \
      | Put the egg in carefully with a spoon | Let it boil for seven minutes \
      | Take it out and put it into cold water | Peel it and add a little salt
    plant a seed | Fill a pot with loose soil | Make a small hole with a finger \
      | Put the seed in and cover it | Water it gently | Put the pot in a sunny place
    make a cup of tea | Boil fresh water | Warm the cup \
      | Put in a tea bag and pour the water over it | Wait three minutes and take the bag out \
      | Add milk or sugar if you like
    wash a woollen sweater | Fill a basin with cool water | Add a little mild soap \
      | Move the sweater gently in the water | Rinse it and press the water out \
      | Dry it flat on a towel
    change a light bulb | Switch off the light and let the bulb cool down \
      | Turn the old bulb out | Check that the new bulb is of the same kind \
      | Turn the new bulb in | Switch on the light to test it
    write a letter of thanks | Write the date and a greeting | Say what you are thankful for \
      | Say how it helped you | Add a friendly wish | Sign the letter with your name
    prepare for a job interview | Read about the company \
      | Write down your strengths with examples | Think of two questions to ask \
      | Choose clean and simple clothes | Leave home early enough
    clean a window | Dust the frame with a dry cloth | Wash the glass with warm soapy water \
      | Pull the water off from top to bottom | Dry the edges with a cloth \
      | Polish the glass with paper
    mend a flat bicycle tyre | Take the wheel off and pull out the tube \
      | Pump the tube up and find the hole | Clean the place and glue a patch on it \
      | Put the tube and the tyre back | Pump it up and mount the wheel
    learn a new word | Read the word aloud | Look up what it means | Write a sentence with it \
      | Say the sentence the next day | Use the word in a talk
    save money every month | Write down what you earn | Write down what you spend \
      | Find one thing you can do without | Move a fixed sum to savings on payday \
      | Check the result at the end of the month
    make a paper boat | Fold a sheet of paper in half | Fold the upper corners to the middle \
      | Fold the lower edges up on both sides | Open it and press it flat into a square \
      | Fold the corners up and pull the sides apart
    make a fruit salad | Wash the fruit | Peel it where it is needed \
      | Cut it into small pieces | Mix it in a bowl with lemon juice \
      | Put it in the fridge for half an hour
    pack a suitcase | Make a list of what you need | Put heavy things at the bottom \
      | Roll the soft clothes | Fill the shoes with socks | Lay the things for the first day on top
    take a good photo | Clean the lens | Look for soft light \
      | Go nearer to what you want to show | Hold the camera still \
      | Take several pictures and keep the best
    wrap a present | Put the box in the middle of the paper \
      | Cut the paper with some room on all sides | Fold the long sides over and tape them \
      | Fold the ends into triangles and tape them | Tie a ribbon around it
    calm down before an exam | Sit upright and close your eyes | Breathe in slowly \
      | Breathe out even more slowly | Repeat this ten times \
      | Start with a question that you can answer
    paint a wall | Cover the floor | Tape the edges | Paint the corners with a brush \
      | Paint the rest with a roller | Let it dry and paint it again
    tidy a desk | Take everything off the desk | Wipe the desk with a damp cloth \
      | Throw away what is broken or empty | Put back only what you use every day \
      | Find a drawer for the rest
    start a campfire safely | Choose a place far from dry grass | Lay a ring of stones \
      | Pile up small dry twigs | Light them and add larger wood slowly \
      | Put the fire out with water before you leave
    """,
)

TIPS = table(
    "goal one two three",
    """
    sleep better | Go to bed at the same time every day. | Keep the bedroom dark and cool. \
      | Put the phone away an hour before.
    read more books | Keep a book where you sit most often. | Read ten pages before you sleep. \
      | Stop reading books that bore you.
    drink more water | Keep a bottle within reach. | Drink a glass before every meal. \
      | Add a slice of lemon for taste.
    learn a language | Practise a little every day. | Speak from the first week on. \
      | Listen to songs and simple stories.
    be on time | Prepare your things the evening before. \
      | Plan ten minutes more than you need. | Set an alarm for the moment to leave.
    spend less on food | Plan the meals of the week. | Never shop when you are hungry. \
      | Use what is left for a soup.
    stay fit | Walk whenever the way is short. | Move for half an hour a day. \
      | Choose a sport that you enjoy.
    remember names | Repeat the name when you hear it. | Connect it with a picture. \
      | Write it down later.
    work with focus | Do one thing at a time. | Switch off all messages. \
      | Take a short break every hour.
    save energy at home | Switch off lights that nobody needs. | Wash at a low temperature. \
      | Close the curtains on cold nights.
    keep houseplants alive | Put them where the light suits them. \
      | Water only when the soil is dry. | Turn the pots now and then.
    give a good speech | Know your first sentence by heart. \
      | Speak more slowly than you want to. | Look at the people and not at the paper.
    make new friends | Join a club that you like. | Ask questions and listen. \
      | Be the one who suggests to meet again.
    write clearly | Use short sentences. | Say one thing in each paragraph. \
      | Read the text aloud and cut what is not needed.
    travel light | Take clothes that go together. | Leave out what you only might need. \
      | Wear the heaviest shoes.
    worry less | Write down what bothers you. | Do the next small step. \
      | Talk to somebody you trust.
    """,
)

GROUPS: dict[str, str] = {
    "fruits": "apple, pear, plum, cherry, grape, mango, lemon, peach, melon, fig, kiwi, banana",
    "vegetables": "carrot, onion, leek, pea, bean, potato, spinach, cabbage, beetroot, radish",
    "animals of the forest": "fox, deer, owl, badger, squirrel, hare, boar, hedgehog, wolf",
    "farm animals": "cow, pig, sheep, goat, hen, duck, horse, donkey, goose, turkey",
    "birds": "robin, sparrow, eagle, owl, swan, crow, heron, finch, swallow, stork, falcon",
    "musical instruments": "piano, violin, flute, drum, guitar, trumpet, harp, cello, oboe, banjo",
    "pieces of furniture": "table, chair, bed, sofa, desk, shelf, wardrobe, stool, bench, cupboard",
    "kitchen tools": "knife, spoon, pan, pot, whisk, grater, sieve, ladle, peeler, bowl",
    "jobs": "baker, nurse, pilot, farmer, teacher, plumber, painter, judge, tailor, gardener",
    "sports": "football, tennis, swimming, rowing, running, skiing, boxing, judo, hockey, cycling",
    "flowers": "rose, tulip, daisy, lily, violet, poppy, sunflower, orchid, iris, pansy",
    "trees": "oak, birch, pine, maple, willow, beech, ash, poplar, cedar, elm",
    "colours": "red, blue, green, yellow, orange, purple, brown, black, white, grey, pink",
    "drinks": "water, tea, coffee, milk, juice, lemonade, cocoa, soda, cider",
    "clothes": "shirt, coat, hat, scarf, glove, sock, skirt, jacket, belt, sweater",
    "parts of the body": "hand, foot, knee, elbow, nose, ear, shoulder, neck, back, finger",
    "metals": "iron, copper, gold, silver, tin, lead, zinc, nickel",
    "planets": "Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune",
    "means of transport": "car, bus, train, ship, tram, bicycle, ferry, plane, taxi, van",
    "hobbies": "reading, painting, hiking, cooking, fishing, chess, gardening, sewing, dancing",
}

CAPITALS = table(
    "country capital",
    """
    France | Paris
    Spain | Madrid
    Italy | Rome
    Germany | Berlin
    Portugal | Lisbon
    Austria | Vienna
    Poland | Warsaw
    Norway | Oslo
    Sweden | Stockholm
    Finland | Helsinki
    Denmark | Copenhagen
    Ireland | Dublin
    Greece | Athens
    Hungary | Budapest
    Romania | Bucharest
    Bulgaria | Sofia
    Belgium | Brussels
    Iceland | Reykjavik
    Japan | Tokyo
    China | Beijing
    South Korea | Seoul
    Thailand | Bangkok
    Vietnam | Hanoi
    India | New Delhi
    Egypt | Cairo
    Kenya | Nairobi
    Morocco | Rabat
    Ghana | Accra
    Canada | Ottawa
    Mexico | Mexico City
    Peru | Lima
    Chile | Santiago
    Argentina | Buenos Aires
    Brazil | Brasilia
    Australia | Canberra
    New Zealand | Wellington
    Cuba | Havana
    Turkey | Ankara
    """,
)

PHRASES = table(
    "english french spanish german italian",
    """
    good morning | bonjour | buenos días | guten Morgen | buongiorno
    good night | bonne nuit | buenas noches | gute Nacht | buonanotte
    thank you | merci | gracias | danke | grazie
    please | s'il vous plaît | por favor | bitte | per favore
    goodbye | au revoir | adiós | auf Wiedersehen | arrivederci
    yes | oui | sí | ja | sì
    no | non | no | nein | no
    water | eau | agua | Wasser | acqua
    bread | pain | pan | Brot | pane
    house | maison | casa | Haus | casa
    book | livre | libro | Buch | libro
    friend | ami | amigo | Freund | amico
    today | aujourd'hui | hoy | heute | oggi
    tomorrow | demain | mañana | morgen | domani
    one | un | uno | eins | uno
    two | deux | dos | zwei | due
    three | trois | tres | drei | tre
    cat | chat | gato | Katze | gatto
    dog | chien | perro | Hund | cane
    sun | soleil | sol | Sonne | sole
    moon | lune | luna | Mond | luna
    milk | lait | leche | Milch | latte
    cheese | fromage | queso | Käse | formaggio
    red | rouge | rojo | rot | rosso
    green | vert | verde | grün | verde
    How are you? | Comment allez-vous ? | ¿Cómo está usted? | Wie geht es Ihnen? | Come sta?
    I am hungry. | J'ai faim. | Tengo hambre. | Ich habe Hunger. | Ho fame.
    """,
)

YES_NO = table(
    "question verdict reason",
    """
    Is ice lighter than water | Yes | water becomes less dense when it freezes, so ice floats
    Can penguins fly | No | their wings are made for swimming
    Is a tomato a fruit | Yes | it grows from a flower and holds the seeds of the plant
    Does the sun go around the earth | No | the earth goes around the sun once a year
    Is a whale a fish | No | it breathes air and feeds its young with milk
    Do plants need light | Yes | they make their food with the energy of light
    Is the moon larger than the earth | No | the earth is almost four times as wide
    Can you see stars by day | No | the bright sky hides them, except for the sun itself
    Is glass made from sand | Yes | sand is melted with other materials to make it
    Do spiders have six legs | No | they have eight, and that sets them apart from insects
    Is bread baked in an oven | Yes | the heat makes the dough rise and gives it a crust
    Is salt water good to drink | No | the salt takes water out of the body
    Do bats sleep by day | Yes | most of them hunt at night
    Is a triangle a shape with four sides | No | it has three sides and three corners
    Is paper made from wood | Yes | the fibres of wood are turned into pulp and pressed
    Can a candle burn without air | No | the flame needs oxygen
    Is a year longer than ten months | Yes | it has twelve months
    Do fish breathe under water | Yes | their gills take oxygen out of the water
    Is iron attracted by a magnet | Yes | it is one of the few metals that are
    Can sound travel through empty space | No | it needs air or another material to move through
    Is a bicycle faster than walking | Yes | the wheels carry the rider further with every push
    Are all birds able to sing | No | many birds only call, croak or stay silent
    Is honey made by bees | Yes | they collect nectar and thicken it in their hive
    Does wood sink in water | Mostly no | most kinds of wood are lighter than water
    """,
)

WHY = table(
    "question cause detail",
    """
    do leaves turn yellow in autumn | the tree takes back the green pigment before winter \
      | What is left are yellow and orange pigments that were hidden all summer
    do we see lightning before we hear thunder | light is much faster than sound \
      | The light reaches us at once, while the sound needs a few seconds
    do we yawn | we are often tired or bored \
      | It may also help to stay awake, but nobody knows for certain
    is the sea salty | rivers carry salts from the rocks into the sea \
      | The water evaporates again, but the salts stay behind
    does bread rise | yeast in the dough gives off gas \
      | The gas forms small bubbles, and the dough grows around them
    do cats purr | they are often content \
      | Some also purr when they are hurt, perhaps to calm themselves
    do we have seasons | the axis of the earth is tilted \
      | In summer our half leans toward the sun and gets more light
    does a ball come back down | gravity pulls it toward the earth \
      | It slows down on the way up, stops, and then falls
    do birds fly south in winter | they find more food there \
      | They return in spring, when there is enough to eat at home
    does iron rust | it reacts with oxygen and water \
      | Paint or oil keeps the water away and so protects it
    do onions make us cry | cutting them sets a stinging gas free \
      | The eyes make tears to wash the gas away
    does a mirror show us a picture | it sends the light back in an orderly way \
      | A rough wall scatters the light, so we see no picture in it
    do we sweat | the body cools itself that way | The sweat evaporates and takes heat from the skin
    do ships float | they push away as much water as they weigh \
      | A hollow hull is light for its size, so it does not sink
    is it cooler in the mountains | the air is thinner up there \
      | Thin air holds less of the warmth that the ground gives off
    do we need sleep | the body and the brain recover in it \
      | What was learned by day is also sorted and kept
    """,
)

PROS_CONS = table(
    "topic good better bad worse",
    """
    working from home | no time is lost on the way | the day can be planned freely \
      | one sees fewer people | work and free time mix easily
    living in a big city | there is much to see and do | buses and trains run often \
      | rents are high | it is seldom quiet
    living in the country | the air is clean | there is a lot of room | shops are far away \
      | one needs a car for most things
    keeping a dog | it is loyal company | it makes people go outside | it needs time every day \
      | holidays are harder to plan
    shopping online | it is quick and open all day | prices are easy to compare \
      | things cannot be tried on | parcels make a lot of waste
    reading on a screen | many books fit into one device | the letters can be made larger \
      | it needs a battery | eyes get tired sooner
    travelling by train | one can read or sleep on the way | it is kind to the environment \
      | trains can be late | the last miles may need a bus
    riding a bicycle to work | it keeps people fit | it costs very little \
      | rain makes it unpleasant | some roads are dangerous
    learning in a group | questions are answered at once | others keep one going \
      | the pace may not fit | it is easy to chat instead
    cooking at home | one knows what is in the food | it is cheaper than eating out \
      | it takes time | there are dishes to wash
    owning a car | it is there at any hour | heavy things are easy to carry | it costs a lot \
      | parking can be hard
    school uniforms | nobody is judged by clothes | mornings are easier \
      | pupils cannot show their taste | buying them costs money
    """,
)

ANIMALS = table(
    "animal looks lives eats",
    """
    an owl | a round face, large eyes and soft feathers | in woods and old barns \
      | mice and other small animals
    a giraffe | a very long neck and brown patches | on the plains of Africa \
      | leaves from high trees
    a hedgehog | a small body covered with spines | in hedges and gardens | beetles, worms and slugs
    a camel | one or two humps and long legs | in dry lands | dry grass and thorny plants
    a penguin | a black back, a white belly and short wings | on cold southern coasts \
      | fish and krill
    an octopus | a soft body with eight arms | on the floor of the sea | crabs and shells
    a beaver | brown fur and a flat tail | by rivers and ponds | bark and twigs
    a kangaroo | strong hind legs and a pouch | in Australia | grass and leaves
    a squirrel | a bushy tail and quick paws | in trees | nuts, seeds and buds
    a tortoise | a hard shell and slow legs | in warm and dry places | leaves and flowers
    a dolphin | a smooth grey body and a fin on its back | in the sea, in groups | fish and squid
    a bat | wings of thin skin and large ears | in caves and attics | insects or fruit
    """,
)

REWRITES = table(
    "how text result note",
    """
    more politely | Give me the salt. | Could you please give me the salt? \
      | a question with could and please is polite
    more politely | Send the report today. | Could you please send the report today? \
      | a question with could and please is polite
    more politely | Be quiet. | Would you mind being a little quieter, please? \
      | a question with would is polite
    more politely | Open the window. | Would you please open the window? \
      | a question with would and please is polite
    more politely | You are late again. \
      | I noticed that you could not be here on time; is everything all right? \
      | a polite text does not blame
    in the past tense | She walks to school. | She walked to school. | walks becomes walked
    in the past tense | They play in the garden. | They played in the garden. | play becomes played
    in the past tense | He writes a long letter. | He wrote a long letter. | writes becomes wrote
    in the past tense | We go to the market and buy fish. \
      | We went to the market and bought fish. | go becomes went and buy becomes bought
    in the past tense | The bird sings in the tree. | The bird sang in the tree. \
      | sings becomes sang
    in the plural | The child has a red ball. | The children have red balls. \
      | child becomes children and has becomes have
    in the plural | A mouse sits under the box. | Mice sit under the boxes. \
      | mouse becomes mice and box becomes boxes
    in the plural | The woman reads a book. | The women read books. | woman becomes women
    in fewer words | Due to the fact that it was raining, we stayed at home. \
      | We stayed at home because it rained. | because is shorter
    in fewer words | At this point in time we do not have any bread. | We have no bread now. \
      | now is enough
    in fewer words | She is a person who likes to sing songs. | She likes to sing. \
      | the rest says nothing new
    in simple words | The vessel departed at dawn. | The ship left early in the morning. \
      | vessel is ship and departed is left
    in simple words | He endeavoured to assist his companion. | He tried to help his friend. \
      | endeavoured is tried and assist is help
    in simple words | The residence is situated in close proximity to the station. \
      | The house is near the station. | residence is house
    as a question | You like tea. | Do you like tea? | do goes to the front
    as a question | She can swim. | Can she swim? | can goes to the front
    as a question | They are at home. | Are they at home? | are goes to the front
    in the passive voice | The cook made the soup. | The soup was made by the cook. \
      | the soup goes to the front
    in the passive voice | The storm broke the window. | The window was broken by the storm. \
      | the window goes to the front
    """,
)

SPELLING = table(
    "wrong right fault",
    """
    She recieved a letter yesterday. | She received a letter yesterday. | received has ei after c
    He dont like cold soup. | He doesn't like cold soup. | he takes doesn't
    Their going to the beach. | They're going to the beach. | they're stands for they are
    I has two brothers. | I have two brothers. | I takes have
    The dogs is hungry. | The dogs are hungry. | dogs takes are
    We was late for school. | We were late for school. | we takes were
    Its raining again. | It's raining again. | it's stands for it is
    My freind lives next door. | My friend lives next door. | friend has ie
    She go to work by bus. | She goes to work by bus. | she takes goes
    I will definately come. | I will definitely come. | definitely has no a
    There is many people here. | There are many people here. | people takes are
    He runned home. | He ran home. | the past of run is ran
    Tomorow we will swim. | Tomorrow we will swim. | tomorrow has a double r
    i live in london. | I live in London. | I and London have capitals
    The childs are asleep. | The children are asleep. | the plural of child is children
    She is more taller than me. | She is taller than me. | taller needs no more
    """,
)

OPPOSITES = table(
    "word opposite like",
    """
    hot | cold | warm
    big | small | large
    happy | sad | glad
    fast | slow | quick
    early | late | soon
    full | empty | filled
    hard | soft | firm
    loud | quiet | noisy
    rich | poor | wealthy
    brave | cowardly | bold
    begin | end | start
    easy | difficult | simple
    clean | dirty | spotless
    ancient | modern | old
    wide | narrow | broad
    clever | foolish | smart
    near | far | close
    strong | weak | powerful
    generous | stingy | giving
    shut | open | closed
    """,
)

FEELINGS = table(
    "text mood word",
    """
    The soup was cold and nobody said sorry. | negative | cold
    What a lovely evening, I would come again. | positive | lovely
    The room was clean and the view was wonderful. | positive | wonderful
    I waited an hour for a broken chair. | negative | broken
    The film was so dull that I fell asleep. | negative | dull
    Great service and friendly people. | positive | friendly
    The shoes fell apart after a week. | negative | fell apart
    This is the best bread in town. | positive | best
    My parcel came too late and was damaged. | negative | damaged
    The children laughed the whole afternoon. | positive | laughed
    I am very disappointed with this lamp. | negative | disappointed
    Thank you for the beautiful flowers. | positive | beautiful
    The guide was helpful and knew a lot. | positive | helpful
    The music was much too loud and the food was bad. | negative | bad
    """,
)

TROUBLES = table(
    "trouble step one two",
    """
    I am nervous about my first day at work | prepare \
      | Lay out your clothes and check the way the evening before \
      | Nobody expects you to know everything on the first day
    I had an argument with my best friend | talk \
      | Wait until both of you are calm and then say how you felt \
      | Begin with what you are sorry for yourself
    I cannot sleep before exams | rest \
      | Stop learning two hours before bed and take a short walk \
      | A rested head remembers more than a tired one
    I am bored at weekends | try | Pick one thing you have never done and put a date on it \
      | A walk in a new place is a good start
    I keep forgetting appointments | write \
      | Put every date into one calendar as soon as you hear of it \
      | Look at it each morning with your first drink
    I feel lonely in a new town | meet | Join a course or a club that meets every week \
      | Seeing the same faces again makes talking easier
    My room is always a mess | sort \
      | Take ten minutes every evening and give each thing a place \
      | Start with the floor and then the desk
    I spend too much time on my phone | limit | Leave it in another room while you work or eat \
      | Switch off all messages that can wait
    I am afraid of speaking in front of people | practise \
      | Practise aloud in front of one person you trust \
      | Learn only the first and the last sentence by heart
    I do not know what to cook tonight | look \
      | See what has to be eaten first and build on that \
      | Eggs, pasta or rice go with almost everything
    I lost my keys | search | Go back in your mind to the last door you opened \
      | Ask at the places where you have been today
    I want to stop eating so many sweets | replace \
      | Keep fruit or nuts where the sweets used to be \
      | Allow yourself one sweet thing a day and enjoy it
    """,
)

CODE = table(
    "task name args body note",
    """
    doubles a number | double | number | return number + number | the number is added to itself
    says whether a number is even | is_even | number | return number % 2 == 0 \
      | the rest of dividing by two is zero
    returns the last item of a list | last | items | return items[-1] \
      | the index -1 is the last item
    reverses a text | reverse | text | return text[::-1] | a slice with step -1 goes backwards
    adds two numbers | add | a, b | return a + b | a plus does it
    counts the words of a text | count_words | text | return len(text.split()) \
      | split cuts at the spaces
    returns the larger of two numbers | larger | a, b | return a if a > b else b \
      | one comparison is enough
    joins words with commas | join_words | words | return ", ".join(words) \
      | join puts a comma between them
    makes a text upper case | shout | text | return text.upper() | strings have a method for it
    returns the sum of a list | total | numbers | return sum(numbers) | sum is built in
    says whether a text is empty | is_empty | text | return len(text) == 0 \
      | an empty text has length zero
    returns the shortest word | shortest | words | return min(words, key=len) \
      | min can compare by length
    removes spaces at both ends | trim | text | return text.strip() | strip does it
    sorts a list | in_order | items | return sorted(items) | sorted returns a new list
    """,
)
