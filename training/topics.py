"""What people ask outside the families: topics with many wordings each."""

from __future__ import annotations

from training import facts
from training.slots import (
    alphabet,
    clock,
    digest,
    larger,
    left,
    lookup,
    members,
    odd_one,
    person,
    sequence,
    small_table,
    sums,
    translation,
)
from training.tasks.pools import ANIMALS, COLOURS, JOBS, PEOPLE, ROOMS, THINGS, TOWNS
from training.topic import Topic

TOPICS: dict[str, Topic] = {
    "definition": Topic(
        (
            "What is {term}?",
            "Explain in simple words what {term} is.",
            "Can you tell me what {term} is?",
            "Define {term} for a child.",
            "I keep hearing about {term}. What does that mean?",
        ),
        (
            "The question is what {term} is. I say what kind of thing it is, then what it is good "
            "for or does, and give one example. The example can be {example}. Three sentences.",
            "A definition of {term} is wanted. In short: {is}. Then one sentence on why it matters "
            "and one example, {example}.",
        ),
        (
            "{Term} is {is}. Put simply, {use}. An example is {example}.",
            "{Term} is {is}; {use}. Think of {example}.",
        ),
        facts.CONCEPTS,
    ),
    "paragraph": Topic(
        (
            "Write a short paragraph about {term}.",
            "Tell me something about {term} in a few sentences.",
            "I have to give a small talk about {term}. Write it for me.",
        ),
        (
            "A short text about {term}. I start with what it is, go on with what it does, give an "
            "example, {example}, and close with a sentence that sums it up.",
        ),
        (
            "Most people have heard of {term}, but what is it really? {Term} is {is}. It matters "
            "because {use}. A good example is {example}. So it is worth looking twice the next "
            "time you come across it.",
        ),
        facts.CONCEPTS,
    ),
    "difference": Topic(
        (
            "What is the difference between {a} and {b}?",
            "How does {a} differ from {b}?",
            "Compare {a} and {b} briefly.",
        ),
        (
            "Two things are compared, {a} and {b}. Both {both}. The difference: {a} {ofa}, and {b} "
            "{ofb}. I first say what they share and then the difference.",
        ),
        (
            "{A} and {b} both {both}. The difference is that {a} {ofa}, while {b} {ofb}.",
            "Both {both}, but {a} {ofa}, and {b} {ofb}.",
        ),
        facts.PAIRS,
    ),
    "steps": Topic(
        (
            "How do I {task}?",
            "Explain step by step how to {task}.",
            "Give me instructions to {task}.",
            "I have never done this: how can I {task}?",
        ),
        (
            "Somebody wants to {task}. Five short steps in the right order will do, as a numbered "
            "list. It begins with this: {one}. At the end: {five}.",
        ),
        (
            "Here is how to {task}:\n\n1. {one}.\n2. {two}.\n3. {three}.\n4. {four}.\n5. {five}.",
            "1. {one}.\n2. {two}.\n3. {three}.\n4. {four}.\n5. {five}.",
        ),
        facts.STEPS,
    ),
    "steps_prose": Topic(
        ("Tell me in one paragraph how to {task}.", "Describe how people {task}, without a list."),
        (
            "A paragraph and no list is wanted about how to {task}. I keep the order: the first "
            "step, then the others, and the last one. Five short sentences are enough.",
        ),
        (
            "To {task}, follow a simple order. {one}. {two}. After that: {three}. {four}. "
            "Finally, there is one thing left to do: {five}.",
        ),
        facts.STEPS,
    ),
    "tips": Topic(
        (
            "Give me three tips to {goal}.",
            "How can I {goal}?",
            "What helps people who want to {goal}?",
        ),
        (
            "Advice to {goal} is wanted. Three tips that are easy to follow, each in a short "
            "sentence, as a list. No long introduction.",
        ),
        (
            "Three things that help to {goal}:\n\n- {one}\n- {two}\n- {three}",
            "Try this:\n\n1. {one}\n2. {two}\n3. {three}",
        ),
        facts.TIPS,
    ),
    "list": Topic(
        ("Name {n} {group}.", "List {n} {group}.", "Can you give me {n} {group}?"),
        (
            "The task is a list of {n} {group}. I pick common ones that everybody knows and count "
            "as I write: {listed}. That makes {n}.",
        ),
        ("{bullets}", "{numbered}", "Here are {n} {group}: {listed}."),
        work=members,
    ),
    "odd_one": Topic(
        (
            "Which word does not belong: {shown}?",
            "Find the odd one out: {shown}.",
        ),
        (
            "I look at each of the four words. {three} are {group}. The word {odd} belongs to the "
            "{other}, so it is the odd one out.",
        ),
        ("{odd} does not belong. The others are {group}.", "The odd one out is {odd}."),
        work=odd_one,
    ),
    "alphabet": Topic(
        (
            "Put these words into alphabetical order: {shown}.",
            "Sort alphabetically: {shown}",
        ),
        (
            "Four words have to be put in order of their first letters. In order of the alphabet "
            "they are: {first}. So I write them in this order.",
        ),
        ("{ordered}", "In alphabetical order: {ordered}."),
        work=alphabet,
    ),
    "greeting": Topic(
        (
            "Hello!",
            "Hi there",
            "Good morning, {name} here.",
            "Hey, how are you?",
            "Hello, I am {name}.",
        ),
        (
            "Somebody greets me. I greet back in a friendly way and ask what I can do. One or two "
            "short sentences are enough. There is no task yet, so I wait for one.",
        ),
        (
            "Hello! It is good to hear from you. What can I do for you?",
            "Hi! I am doing fine, thank you. How can I help?",
        ),
        pools={"name": PEOPLE},
    ),
    "who": Topic(
        ("Who are you?", "What can you do?", "Are you a human?", "Tell me about yourself."),
        (
            "The question is about me. I am a small language model, and not a person. I say what "
            "I can do and that I make mistakes. Two or three honest sentences.",
        ),
        (
            "I am a small language model. I can make tables, lists and short texts from what you "
            "give me and answer simple questions. I do make mistakes, so check what matters.",
        ),
    ),
    "thanks": Topic(
        ("Thank you!", "Thanks, that helped.", "Great, thank you, goodbye.", "Thanks, see you."),
        (
            "Somebody says thank you. I answer politely and briefly, and offer help for another "
            "time. Nothing else has to be done.",
        ),
        ("You are welcome! Come back any time.", "Glad to help. Have a good day!"),
    ),
    "opinion": Topic(
        (
            "What is your favourite colour?",
            "Do you like music?",
            "Which food do you like best?",
            "Do you have friends?",
        ),
        (
            "This asks for a taste or a life of my own. I am a program and have neither. I say so "
            "in a friendly way and ask the question back.",
        ),
        (
            "I am a program, so I have no taste of my own. What about you?",
            "As a language model I cannot feel that. But I would like to hear your answer!",
        ),
    ),
    "unknown_private": Topic(
        (
            "What did my friend {name} eat yesterday?",
            "Where did {name} put the {thing}?",
            "What is the phone number of {name} from {town}?",
            "How old is {name} who lives next door to me in {town}?",
        ),
        (
            "This is about {name}, a private person. I was not there and have no way to look it "
            "up. A guess would be wrong, so I say that I do not know and whom to ask.",
        ),
        (
            "I do not know that. It is best to ask {name}.",
            "I cannot know this about {name}, and I do not want to guess. Please ask {name}.",
        ),
        pools={"name": PEOPLE, "town": TOWNS, "thing": THINGS},
    ),
    "unknown_future": Topic(
        (
            "Will it rain in {town} on my birthday next year?",
            "Which number will win the lottery next week?",
            "Who will win the {town} chess cup in ten years?",
            "What will a loaf of bread cost in {town} in fifty years?",
        ),
        (
            "The question is about the future. Nobody can know it, and I have no data about it. "
            "I say that plainly and do not make anything up.",
        ),
        (
            "I do not know. Nobody can tell that in advance.",
            "That cannot be known today, so I will not guess.",
        ),
        pools={"town": TOWNS},
    ),
    "capital": Topic(
        ("What is the capital of {country}?", "Which city is the capital of {country}?"),
        (
            "A fact about {country} is asked for: its capital. That is {capital}. One sentence "
            "with the name of the city answers the question.",
        ),
        ("The capital of {country} is {capital}.", "{Capital} is the capital of {country}."),
        facts.CAPITALS,
    ),
    "country": Topic(
        ("{capital} is the capital of which country?", "In which country is {capital}?"),
        (
            "Here the city is given and the country is asked for. {capital} is the capital of "
            "{country}. I answer in one sentence.",
        ),
        ("{capital} is the capital of {country}.", "{capital} is in {country}."),
        facts.CAPITALS,
    ),
    "translate": Topic(
        (
            'Translate "{english}" into {language}.',
            'How do you say "{english}" in {language}?',
            "What is the {language} for: {english}",
        ),
        (
            'A translation into {language} is wanted, of the English "{english}". In {language} '
            'that is "{there}". I give just the translation, without a lesson.',
        ),
        ("{there}", 'In {language} it is "{there}".'),
        facts.PHRASES,
        work=translation,
    ),
    "translate_back": Topic(
        (
            'What does "{there}" mean in English?',
            'Translate the {language} "{there}" into English.',
        ),
        (
            'The words "{there}" are {language}. In English they mean "{english}". The answer is '
            "one short sentence with the meaning.",
        ),
        ('"{there}" means "{english}".', "{english}"),
        facts.PHRASES,
        work=translation,
    ),
    "yes_no": Topic(
        (
            "{question}?",
            "{question}? Answer with yes or no and a reason.",
            "True or not: {question}?",
        ),
        (
            "A question that can be answered with yes or no. I think about the facts: {reason}. "
            "So the answer is: {verdict}. I give the answer first and the reason after it.",
        ),
        ("{verdict}. The reason: {reason}.", "{verdict}, because {reason}."),
        facts.YES_NO,
    ),
    "why": Topic(
        ("Why {question}?", "Can you explain this to me: why {question}?"),
        (
            "The question asks for a cause: why {question}. The main reason is that {cause}. I "
            "give this reason first and add one sentence that explains it further.",
        ),
        ("Mainly because {cause}. {detail}.", "The reason is that {cause}. {detail}."),
        facts.WHY,
    ),
    "pros_cons": Topic(
        (
            "What are the pros and cons of {topic}?",
            "Is {topic} a good idea?",
            "List advantages and disadvantages of {topic}.",
        ),
        (
            "Both sides of {topic} are wanted. For it: {good}, and {better}. Against it: {bad}, "
            "and {worse}. I list two points for each side.",
        ),
        (
            "Advantages of {topic}:\n- {good}\n- {better}\n\nDisadvantages:\n- {bad}\n- {worse}",
            "On the one hand, {good}, and {better}. On the other hand, {bad}, and {worse}. It "
            "depends on what matters more to you.",
        ),
        facts.PROS_CONS,
    ),
    "essay": Topic(
        ("Write a short essay on {topic}.", "Discuss {topic} in three short paragraphs."),
        (
            "An essay on {topic} in three short paragraphs: the first for it, the second against "
            "it, the third with a balanced end. For: {good}. Against: {bad}. I keep it plain.",
        ),
        (
            "There are good reasons for {topic}. First of all, {good}. Many people also value "
            "that {better}.\n\nBut there is another side to it. One problem is that {bad}. "
            "Besides, {worse}.\n\nSo the answer depends on the person. Those who know both sides "
            "of {topic} can decide for themselves.",
        ),
        facts.PROS_CONS,
    ),
    "animal": Topic(
        (
            "Describe {animal}.",
            "What does {animal} look like, and what does it eat?",
            "Tell me about {animal}.",
        ),
        (
            "A description of {animal}. I say what it looks like, where it lives and what it "
            "eats: {looks}; it lives {lives}; food: {eats}.",
        ),
        (
            "{Animal} has {looks}. It lives {lives} and eats {eats}.",
            "You recognise {animal} by {looks}. It is found {lives}. Its food is {eats}.",
        ),
        facts.ANIMALS,
    ),
    "rewrite": Topic(
        (
            "Write this {how}: {text}",
            'Put the sentence "{text}" {how}.',
            "Rewrite {how}.\n\n{text}",
        ),
        (
            "One sentence has to be written {how}, with the same meaning. What changes here: "
            "{note}. I answer with the new sentence only.",
        ),
        ("{result}",),
        facts.REWRITES,
    ),
    "spelling": Topic(
        (
            "Correct this sentence: {wrong}",
            "Is there a mistake in this? {wrong}",
            "Fix the grammar and spelling.\n\n{wrong}",
        ),
        (
            "I read the sentence word by word and look for a mistake. There is one: {fault}. The "
            "rest is fine, so I change only that and write the sentence again.",
        ),
        ("{right}", "It should be: {right}"),
        facts.SPELLING,
    ),
    "opposite": Topic(
        ('What is the opposite of "{word}"?', "Give me the opposite of {word}."),
        (
            "The opposite of a word is wanted, not a word that means the same. The word is "
            "{word}, and its opposite is {opposite}. One short sentence.",
        ),
        ('The opposite of "{word}" is "{opposite}".', "{Opposite}"),
        facts.OPPOSITES,
    ),
    "synonym": Topic(
        ('Give me another word for "{word}".', 'What is a synonym of "{word}"?'),
        (
            "A word with about the same meaning as {word} is wanted. {Like} comes close. I must "
            "not give the opposite, which would be {opposite}.",
        ),
        ('Another word for "{word}" is "{like}".', "{Like}"),
        facts.OPPOSITES,
    ),
    "feeling": Topic(
        (
            "Is this review positive or negative? {text}",
            'Positive or negative: "{text}"',
            "How does the writer feel about it?\n\n{text}",
        ),
        (
            "I look for words that show a feeling in the text. Here it says {word}, which is "
            "clearly {mood}. So the whole text is {mood}.",
        ),
        ("{Mood}.", "The text is {mood}; that shows in the words: {word}."),
        facts.FEELINGS,
    ),
    "advice": Topic(
        ("{trouble}. What should I do?", "{trouble}. Any advice?", "Help me, please. {trouble}."),
        (
            "Somebody has a problem and asks for advice. I stay friendly and practical: one first "
            "step, which is to {step}, and one thought that helps. No lecture.",
        ),
        (
            "That is a common problem, and it can be dealt with. {one}. {two}.",
            "I am sorry to hear that. Here is what may help. {one}. {two}.",
        ),
        facts.TROUBLES,
    ),
    "function": Topic(
        (
            "Write a Python function that {task}.",
            "How do I write a function in Python which {task}?",
            "Python: a function {name} that {task}.",
        ),
        (
            "A small Python function that {task}. It is called {name} and takes {args}. Inside, "
            "{note}, so one line is enough. I add a docstring.",
        ),
        ('```python\ndef {name}({args}):\n    """A function that {task}."""\n    {body}\n```',),
        facts.CODE,
    ),
    "explain_code": Topic(
        (
            "What does this code do?\n\ndef {name}({args}):\n    {body}",
            "Explain this Python function.\n\ndef {name}({args}):\n    {body}",
        ),
        (
            "I read the function. It is called {name}, takes {args} and has one line. In that "
            "line, {note}. So it {task}. I say that in a sentence or two.",
        ),
        ("The function {name} {task}: {note}.", "It {task}. How: {note}."),
        facts.CODE,
    ),
    "sum": Topic(
        ("What is {a} + {b}?", "Add {a} and {b}.", "How much is {a} plus {b}?"),
        (
            "Two numbers have to be added, {a} and {b}. I add them: {a} + {b} = {s}. The answer is "
            "one number, and I repeat the sum with it.",
        ),
        ("{a} + {b} = {s}", "{a} plus {b} is {s}."),
        work=sums,
    ),
    "two_parts": Topic(
        (
            "{name} has {a} shells and finds {b} more. How many shells does {name} have now?",
            "A shelf holds {a} books. {name} puts {b} more on it. How many books are on it now?",
            "In a hall are {a} guests. Then {name} comes with {b} others. How many is that "
            "without {name}?",
        ),
        (
            "Something is added, so I add the two numbers of the text. At first there are {a}, "
            "then {b} more. {a} + {b} = {s}. So {s} is the answer.",
        ),
        ("{a} + {b} = {s}. The answer is {s}.", "It is {s}, because {a} + {b} = {s}."),
        pools={"name": PEOPLE},
        work=sums,
    ),
    "three_parts": Topic(
        (
            "{name} walked {a} miles in May, {b} in June and {c} in July. How many in all?",
            "A box holds {a} nails. {name} adds {b} and then {c} more. How many are there now?",
            "{name} read {a} pages on Monday, {b} on Tuesday and {c} on Sunday. How many together?",
        ),
        (
            "Three numbers belong together, so I add them one after the other. First "
            "{a} + {b} = {s}. Then {s} + {c} = {t}. The answer is {t}.",
        ),
        ("{a} + {b} + {c} = {t}", "Together that makes {t}: {a} + {b} = {s} and {s} + {c} = {t}."),
        pools={"name": PEOPLE},
        work=sums,
    ),
    "left": Topic(
        (
            "{name} has {a} plums and eats {b}. How many are left?",
            "There were {a} birds on a roof, and {b} flew away. How many stayed?",
            "{name} had {a} coins and gave {b} of them to a friend. How many remain?",
        ),
        (
            "Something is taken away, so I subtract. At first there were {a}, and {b} are gone. "
            "{a} - {b} = {r}. So {r} is the answer.",
        ),
        ("{a} - {b} = {r}, so {r} are left.", "There are {r} left."),
        pools={"name": PEOPLE},
        work=left,
    ),
    "larger": Topic(
        ("Which number is larger, {a} or {b}?", "Is {a} more than {b}?", "Compare {a} and {b}."),
        (
            "Two numbers are compared, {a} and {b}. I look at the tens first and then at the ones. "
            "{more} is larger than {less}.",
        ),
        ("{more} is larger than {less}.",),
        work=larger,
    ),
    "sequence": Topic(
        ("Which number comes next: {shown}?", "Continue the sequence: {shown}"),
        (
            "I look at the steps between the numbers {shown}. Each number is {step} more than the "
            "one before. {last} + {step} = {next}.",
        ),
        ("{next}", "The next number is {next}, because each step adds {step}."),
        work=sequence,
    ),
    "clock": Topic(
        ("Write {late} in the twelve-hour form.", "What time is {late} with am or pm?"),
        (
            "The time {late} is in the afternoon or evening, because {h} is more than 12. I take "
            "12 away from the hour and add pm: {twelve}.",
        ),
        ("{twelve}", "{late} is {twelve}."),
        work=clock,
    ),
    "passage": Topic(
        (
            "{name} is a {job} and lives in {town} with a {animal}. Every morning {name} puts on a "
            "{colour} coat and takes the bus to work.\n\nWhat does {name} do for a living?",
            "Read the text and answer: what is the job of {name}?\n\n{name} moved to {town} last "
            "year and works there as a {job}. A {animal} keeps {name} company.",
        ),
        (
            "The answer must come from the text. The text says what {name} does: {name} is "
            "a {job}. The town, the {animal} and the rest do not matter here.",
        ),
        ("{name} is a {job}.", "{name} works as a {job}."),
        pools={"name": PEOPLE, "job": JOBS, "town": TOWNS, "animal": ANIMALS, "colour": COLOURS},
    ),
    "passage_missing": Topic(
        (
            "{name} lives in {town} and keeps a {animal}.\n\nHow old is {name}?",
            "Text: {name} works as a {job} in {town}.\nQuestion: What is {name}'s brother called?",
        ),
        (
            "The answer must come from the text. I read it again: it names {name} and {town}, but "
            "says nothing about what is asked. So I say that the text does not tell.",
        ),
        ("The text does not say that.", "That is not in the text."),
        pools={"name": PEOPLE, "job": JOBS, "town": TOWNS, "animal": ANIMALS},
    ),
    "summary": Topic(
        (
            "Summarise in one sentence.\n\n{name}, a {job} from {town}, lost a {thing} on the way "
            "home. For three days nobody knew where it was. Then {friend} found it in the {room} "
            "and brought it back. {name} was so glad that both had dinner together.",
            "{name} is a {job}. Last week {name} went to {town} to look for a {thing}. All shops "
            "were closed, so {name} visited {friend}, who had one in the {room} and gave it away "
            "for free.\n\nWhat is the gist of this in one sentence?",
        ),
        (
            "The text is short, and one sentence is wanted. What matters: {name} needed a {thing}, "
            "and {friend} helped. I leave out the details such as the {room}.",
        ),
        ("{friend} helped {name} to get a {thing}.", "Thanks to {friend}, {name} has a {thing}."),
        pools={
            "name": PEOPLE,
            "friend": PEOPLE,
            "job": JOBS,
            "town": TOWNS,
            "thing": THINGS,
            "room": ROOMS,
        },
    ),
    "story": Topic(
        (
            "Write a short story about a {job} and a {animal}.",
            "Tell me a story about a {job} in {town}.",
            "I would like a short story with a {animal} in it.",
        ),
        (
            "A short story: a {job} called {name} in {town}, a {animal}, a small problem and a "
            "good end. The problem is a lost {thing}. Begin, search, find, close.",
        ),
        (
            "Once there was a {job} called {name}, who lived in {town}. One grey morning the "
            "{thing} was gone, and without it {name} could not work. {name} searched the whole "
            "house in vain. Then a {animal} appeared at the door and would not go away. Curious, "
            "{name} followed it to the river, and there lay the {thing} in the grass. From that "
            "day on the {animal} had a warm place by the stove.",
            "{name} was a {job} in {town} and had no time for anything but work. One evening a "
            "{animal} sat in front of the door, with a {thing} beside it. Nobody knew whose it "
            "was. {name} asked at every house, and by nightfall had talked to the whole street. "
            "The {thing} was never claimed, but {name} was never lonely again.",
        ),
        pools={"name": PEOPLE, "job": JOBS, "animal": ANIMALS, "town": TOWNS, "thing": THINGS},
    ),
    "letter_story": Topic(
        (
            "Write a story about somebody who finds a {thing} in the {room}.",
            "Make up a little tale about {name} and a {thing}.",
        ),
        (
            "A little tale with {name} and a {thing}. It is found in the {room}, there is a note "
            "with it, and the note leads to an old friend, {friend}. A warm end.",
        ),
        (
            "When {name} cleaned the {room}, a {thing} fell from behind a board. A note was tied "
            'to it: "For the day we meet again. {friend}." They had not spoken for years. {name} '
            "put on a coat, walked to the other end of {town} and knocked. {friend} opened, saw "
            'the {thing} and smiled. "You took your time," said {friend}, and put the kettle on.',
        ),
        pools={"name": PEOPLE, "friend": PEOPLE, "thing": THINGS, "room": ROOMS, "town": TOWNS},
    ),
    "poem": Topic(
        ("Write a short poem about a {animal}.", "Four lines of verse about a {animal}, please."),
        (
            "Four short lines about a {animal} that rhyme in pairs. The words day and way rhyme, "
            "and so do night and light. A simple and friendly tone fits.",
        ),
        (
            "A {animal} came along one day\nand asked me kindly for the way.\nI showed it by the "
            "moon at night\nand saw it vanish in the light.",
            "The {animal} wakes when it is day\nand looks around and goes its way.\nIt has no "
            "clock, it needs no light,\nand sleeps quite soundly in the night.",
        ),
        pools={"animal": ANIMALS},
    ),
    "dialogue": Topic(
        (
            "Write a short dialogue between {name} and {friend} about a {thing}.",
            "{name} wants to borrow a {thing} from {friend}. Write what they say.",
        ),
        (
            "A dialogue of four lines. {name} asks for the {thing}, {friend} wants to know what it "
            "is for, {name} explains, and {friend} agrees.",
        ),
        (
            "{name}: May I borrow your {thing}?\n{friend}: What do you need it for?\n{name}: I am "
            "going to {town} tomorrow and mine is broken.\n{friend}: Take it, but bring it back on "
            "Sunday.",
        ),
        pools={"name": PEOPLE, "friend": PEOPLE, "thing": THINGS, "town": TOWNS},
    ),
    "invitation": Topic(
        (
            "Write an email that invites {name} to dinner.",
            "Draft a short invitation for {name} to a dinner in {town}.",
        ),
        (
            "An invitation for {name}: greeting, what and where, a question whether it suits, and "
            "a friendly end. It takes place in {town}. I keep it short and warm.",
        ),
        (
            "Dear {name},\n\nI would like to invite you to dinner in {town} next Saturday at "
            "seven. There will be soup, bread and good company. Please let me know whether you "
            "can come.\n\nKind regards",
        ),
        pools={"name": PEOPLE, "town": TOWNS},
    ),
    "complaint": Topic(
        (
            "Write a polite complaint about a broken {thing}.",
            "My new {thing} is broken. Write to the shop for me.",
        ),
        (
            "A polite letter to a shop about a {thing}. What happened, what is wanted, and thanks "
            "in advance. No insults. A new one or the money back would be fair.",
        ),
        (
            "Dear shop team,\n\nlast week I bought a {thing} from you. When I unpacked it at home, "
            "it was broken. Please send me a new one or return the money.\n\nThank you for your "
            "help.\n\nKind regards",
        ),
        pools={"thing": THINGS},
    ),
    "slogan": Topic(
        ("Write a slogan for a shop that sells a {thing}.", "I need an advert line for a {thing}."),
        (
            "A slogan has to be short and easy to remember. It should name the {thing} and promise "
            "something good. One line, no explanation.",
        ),
        ("A good day begins with a good {thing}.", "Your {thing}. Made to last, made for you."),
        pools={"thing": THINGS},
    ),
    "lookup": Topic(
        (
            "Use the text to answer the question: what is {term}?\n\n{passage}",
            "{passage}\n\nWhat does the text say about {term}?",
            "Here is a text.\n\n{passage}\n\nAccording to it, what is {term}?",
        ),
        (
            "The text speaks of several things: {terms}. Only {term} matters for the question. The "
            "text says that it is {is}. I use that and nothing else.",
        ),
        ("According to the text, {term} is {is}.", "{Term} is {is}. In short, {use}."),
        work=lookup,
    ),
    "digest": Topic(
        (
            "Summarise this text.\n\n{passage}",
            "{passage}\n\nWhat is this text about?",
            "Write a summary of one or two sentences.\n\n{passage}",
        ),
        (
            "The text has three parts, about {named}. Each part tells the looks, the home and the "
            "food. A summary names the three and what is told, without the details.",
        ),
        (
            "The text describes {named}. For each it tells what it looks like, where it lives and "
            "what it eats.",
        ),
        work=digest,
    ),
    "small_table": Topic(
        (
            "Make a small table of names and jobs: {told}.",
            "{told}. Show that as a Markdown table with the columns Name and Job.",
        ),
        (
            "A table with two columns, Name and Job, and a line for each person: {named}. The "
            "header comes first, then a line of dashes, then the rows.",
        ),
        ("{table}",),
        work=small_table,
    ),
    "profile": Topic(
        (
            "Write the data as JSON: {name}, {age} years old, from {town}.",
            "{name} is {age} and lives in {town}. Give me name, age and town as a JSON object.",
        ),
        (
            "One JSON object with three keys: name, age and town. The name is {name}, the age "
            "{age} is a number without quotes, and the town is {town}.",
        ),
        ('{{"name": "{name}", "age": {age}, "town": "{town}"}}',),
        pools={"name": PEOPLE, "town": TOWNS},
        work=person,
    ),
    "names": Topic(
        (
            "Which names occur in this text? {name} met {friend} at the {room} door in {town}.",
            "List the people: {name} sold a {thing} to {friend} in {town}.",
        ),
        (
            "I look for the names of people in the sentence. {name} is one, {friend} is the other. "
            "{town} is a place and does not count.",
        ),
        ("{name} and {friend}.", "- {name}\n- {friend}"),
        pools={"name": PEOPLE, "friend": PEOPLE, "room": ROOMS, "town": TOWNS, "thing": THINGS},
    ),
    "bullets": Topic(
        (
            "Turn this into a bullet list: a {one}, a {two} and a {three}.",
            "Make a list with dots or dashes of these things: {one}, {two}, {three}.",
        ),
        (
            "Three things have to go into a list, one a line, each with a dash: the {one}, the "
            "{two} and the {three}. I keep their order and change nothing.",
        ),
        ("- {one}\n- {two}\n- {three}",),
        pools={"one": THINGS, "two": THINGS, "three": THINGS},
    ),
    "repeat": Topic(
        (
            "Repeat after me: the {colour} {animal} sleeps in the {room}.",
            "Say this sentence again: the {colour} {animal} sleeps in the {room}.",
        ),
        (
            "The sentence has to be repeated as it is, without a change and without a comment. It "
            "is about a {colour} {animal} in the {room}. I write it once.",
        ),
        ("The {colour} {animal} sleeps in the {room}.",),
        pools={"colour": COLOURS, "animal": ANIMALS, "room": ROOMS},
    ),
    "day_of_a": Topic(
        (
            "Imagine you are a {job}. Tell me about your day.",
            "Play the part of a {job} and describe a morning at work.",
        ),
        (
            "I take the part of a {job} and speak in the first person. Morning, work, a small "
            "surprise, evening. A {animal} can be the surprise. Five or six sentences.",
        ),
        (
            "I get up before the sun, because the day of a {job} begins early. After a cup of tea "
            "I walk to work through the empty streets of {town}. The morning is busy, and I hardly "
            "look up. At noon a {animal} came in through the open door today, and everybody "
            "laughed. In the evening I am tired, but content with what is done.",
        ),
        pools={"job": JOBS, "animal": ANIMALS, "town": TOWNS},
    ),
    "visit": Topic(
        (
            "I have one day in {town}. What should I do?",
            "Plan a quiet day in {town} for me.",
            "Write a short travel post about a day in {town}.",
        ),
        (
            "A plan for a day in {town}. I do not know the newest details of the place, so I keep "
            "to things that nearly every town has: a walk, a museum, a market, a meal.",
        ),
        (
            "Begin the morning in {town} with a walk through the old streets before they get busy. "
            "Before noon, visit a museum or a church. Have lunch at the market, where the food is "
            "fresh. Spend the afternoon by the water or in a park, and end the day with dinner in "
            "a small place that the locals like.",
        ),
        pools={"town": TOWNS},
    ),
    "choose": Topic(
        (
            "For a trip to {town}, should I take a {one} or a {two}?",
            "What is more useful on a journey, a {one} or a {two}?",
        ),
        (
            "Two things to choose from, a {one} and a {two}. It depends on the trip. I name what "
            "decides it, the weight and the use, and give a clear hint.",
        ),
        (
            "It depends on what you plan. Take the {one} if you will use it every day; otherwise "
            "the {two} is the better choice. If both are light, take both.",
        ),
        pools={"one": THINGS, "two": THINGS, "town": TOWNS},
    ),
    "unclear": Topic(
        ("Do it.", "Make it better.", "asdf", "And then?", "Can you change this?", "?"),
        (
            "The message does not say what I should work on. There is no text and no question in "
            "it. I ask back what is meant instead of guessing.",
        ),
        (
            "I am not sure what you mean. Could you tell me a little more?",
            "Please send me the text or the question that you mean.",
        ),
    ),
}
