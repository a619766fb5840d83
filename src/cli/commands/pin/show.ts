// heimdall pin show: what a server says of its tools now, against what is pinned.
import { pendingOf, reviewHash, stateOf, toolOf } from '../../../pins/approve.ts'
import { difference, seeable } from '../../../pins/difference.ts'
import type { ToolRecord } from '../../../pins/pins-file.ts'
import { quoted } from '../../../quoted.ts'
import type { Run } from '../../command.ts'
import type { Style } from '../../render/style.ts'
import type { pinShow } from '../../table/pin.ts'
import { knownPins, placeOf } from './which-pins.ts'

/** Enough that nobody finds another definition with the same beginning. */
const HASH_CHARS = 32

export const run: Run<typeof pinShow> = async (context, { args, flags }) => {
  const pins = knownPins(placeOf(context, args.server, flags.project), context.env)
  const tools = args.tool === undefined ? [...pins.tools.values()] : [toolOf(pins, args.tool)]
  const review = reviewHash(pins)
  const waiting = tools.filter((tool) => pendingOf(tool) !== undefined)
  const approve = `heimdall pin approve ${shellWord(args.server)}`
  const count = `${pins.tools.size} ${pins.tools.size === 1 ? 'tool' : 'tools'} of ${seeable(args.server)}`
  const lines =
    args.tool === undefined
      ? [
          `${count}, first seen ${pins.first_seen_at}; ${waiting.length === 0 ? 'nothing waits to be approved' : `${waiting.length} to be approved`}`,
          `reached by: ${pins.reached.text}`,
          ...waiting.flatMap((tool) => ['', ...toolLines(tool, context.style)]),
          ...(review === null
            ? []
            : ['', 'To approve all of it:', `  ${approve} --hash ${review.slice(0, HASH_CHARS)}`]),
        ]
      : tools.flatMap((tool) => [
          ...toolLines(tool, context.style),
          ...(pendingOf(tool) === undefined
            ? definitionLines(tool)
            : ['', 'To approve it:', `  ${approve} ${shellWord(tool.name)} --hash ${hashOf(tool)}`]),
        ])
  return {
    data: {
      project: pins.project,
      server_name: pins.server_name,
      reached: pins.reached.text,
      first_seen_at: pins.first_seen_at,
      review_hash: review,
      tools: tools.map(toolData),
    },
    text: lines.join('\n'),
  }
}

const hashOf = (tool: ToolRecord): string => pendingOf(tool)?.hash.slice(0, HASH_CHARS) ?? ''

function toolLines(tool: ToolRecord, { color }: Style): string[] {
  const pin = tool.pinned.at(-1)
  const since =
    pin === undefined ? [] : [`pinned ${pin.hash.slice(0, HASH_CHARS)} ${pin.at} by ${pin.by ?? 'first sight'}`]
  return [
    `${color.bold(seeable(tool.name))}  ${stateOf(tool)}${tool.gone_at === null ? '' : `, not listed since ${tool.gone_at}`}`,
    ...since.map((line) => `  ${seeable(line)}`),
    ...tool.shown.flatMap(({ hash, at, text }) => [
      `  shown  ${hash.slice(0, HASH_CHARS)} ${at}`,
      ...difference(pin?.text ?? null, text).lines.map((line) =>
        line.startsWith('-') ? color.red(`    ${line}`) : color.green(`    ${line}`),
      ),
    ]),
  ]
}

function definitionLines(tool: ToolRecord): string[] {
  return tool.pinned.flatMap(({ text }) => difference(null, text).lines.map((line) => `    ${line.slice(2)}`))
}

function toolData(tool: ToolRecord): object {
  const pin = tool.pinned.at(-1)
  return {
    tool_name: tool.name,
    state: stateOf(tool),
    gone_at: tool.gone_at,
    pinned: tool.pinned.map(({ hash, at, by, text }) => ({ hash, at, by, definition: text })),
    shown: tool.shown.map(({ hash, at, text }) => {
      const { fields, lines } = difference(pin?.text ?? null, text)
      return { hash, at, definition: text, fields, diff: lines }
    }),
  }
}

/** To be pasted into a shell: a server gives its tools any name it likes. */
const shellWord = (name: string): string => quoted(seeable(name))
