// YAML of a bundle, read with suspicion: depth is checked on tokens before anything recurses, and aliases are few.
import { Lexer, LineCounter, isMap, isNode, isScalar, parseDocument } from 'yaml'
import { POLICY_DEPTH_MAX, POLICY_YAML_ALIASES_MAX, POLICY_YAML_INDENT_MAX } from '../../limits.ts'
import { type Locate, type Path, type Position, invalidPolicy } from './problems.ts'

export function readYaml(text: string, name: string): { readonly value: unknown; readonly locate: Locate } {
  const deep = tooDeep(text)
  if (deep !== undefined) throw invalidPolicy(name, [{ path: '', ...deep }])
  const lines = new LineCounter()
  const document = parse(text, lines)
  // Warnings are unknown tags and the like: a bundle that needs them means something else than it says.
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0)
    throw invalidPolicy(
      name,
      faults.map(({ code, message, pos: [start] }) => ({
        path: '',
        message: code === 'MULTIPLE_DOCS' ? 'a second document begins after ---; a file holds one' : firstLine(message),
        ...positionOf(lines, start),
      })),
    )
  try {
    const value: unknown = document.toJS({ maxAliasCount: POLICY_YAML_ALIASES_MAX })
    return { value, locate: (path) => locatePath(document, lines, path) }
  } catch (error) {
    // The reader's own way to say "too many aliases".
    if (!(error instanceof ReferenceError)) throw error
    throw invalidPolicy(name, [
      { path: '', message: `${firstLine(error.message)}; at most ${POLICY_YAML_ALIASES_MAX} aliases` },
    ])
  }
}

/** Lines for paths of a text that was read as JSON. */
export function locateIn(text: string): Locate {
  const lines = new LineCounter()
  const document = parse(text, lines)
  return (path) => locatePath(document, lines, path)
}

function parse(text: string, lineCounter: LineCounter): ReturnType<typeof parseDocument> {
  return parseDocument(text, {
    lineCounter,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    // Silent would also be silent about a second document, and its rules would not be there.
    logLevel: 'error',
  })
}

/**
 * The reader recurses on nesting, and on Node 20 a long row of dashes does not overflow its stack but kills the process.
 * Flow collections are counted; block collections begin ever further to the right, so their column bounds them.
 */
function tooDeep(
  text: string,
): { readonly message: string; readonly line: number; readonly column: number } | undefined {
  let flow = 0
  let line = 1
  let column = 0
  let isScalarNext = false
  for (const token of new Lexer().lex(text)) {
    if (MARKS.has(token)) {
      isScalarNext = token === SCALAR_NEXT
      continue
    }
    if (!isScalarNext) {
      if (token === '[' || token === '{') flow += 1
      else if (token === ']' || token === '}') flow -= 1
      const isBlockStart = (token === '-' || token === '?') && column >= POLICY_YAML_INDENT_MAX
      const isIndented = column === 0 && token.length > POLICY_YAML_INDENT_MAX && /^ +$/.test(token)
      if (flow > POLICY_DEPTH_MAX || isBlockStart || isIndented)
        return { message: `nested deeper than ${POLICY_DEPTH_MAX} levels`, line, column: column + 1 }
    }
    isScalarNext = false
    const breaks = token.split('\n')
    line += breaks.length - 1
    column = (breaks.length > 1 ? 0 : column) + (breaks.at(-1)?.length ?? 0)
  }
  return undefined
}

/** The lexer's marks take no room in the text: before a plain or block scalar, at the start of a document, after a fault. */
const SCALAR_NEXT = '\u001f'
const MARKS: ReadonlySet<string> = new Set([SCALAR_NEXT, '\u0002', '\u0018'])

function locatePath(document: ReturnType<typeof parseDocument>, lines: LineCounter, path: Path): Position | undefined {
  const key = path.at(-1)
  const parent: unknown = path.length === 0 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (path.length > 0 && isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key)
    return isScalar(pair?.key) ? positionOf(lines, pair.key.range?.[0]) : undefined
  }
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true)
  return isNode(node) ? positionOf(lines, node.range?.[0]) : undefined
}

function positionOf(lines: LineCounter, offset: number | undefined): Position | undefined {
  if (offset === undefined) return undefined
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message
}
