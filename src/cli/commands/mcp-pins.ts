// heimdall mcp pins: tool definitions of servers as they were first seen, and changes that wait for approval.
import { statSync } from 'node:fs'
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import type { Env } from '../../paths.ts'
import type { difference as Difference } from '../../pins/difference.ts'
import type { PinsPlace, ServerPins, ToolRecord } from '../../pins/pins-file.ts'
import { quoted } from '../../quoted.ts'
import { didYouMean } from '../../suggest.ts'
import { type Command, command, type Context } from '../command.ts'
import { renderTable, type Style } from '../render/style.ts'
import { usageError } from '../usage-error.ts'

const serverArg = { name: 'server', help: 'name of the server, as its shim has it' } as const
const toolArg = { name: 'tool', help: 'one of its tools; all by default', optional: true } as const
const project = {
  value: 'FOLDER',
  help: 'folder of the project whose agents use the server; default: the current folder',
} as const

/** Loaded by the command that runs: `mcp shim` starts through the same file. */
const pinsFile = () => import('../../pins/pins-file.ts')
const approvals = () => import('../../pins/approve.ts')
const differences = () => import('../../pins/difference.ts')

const list = command({
  names: ['heimdall mcp pins list'],
  summary: 'List the tools of servers, and which of them changed since they were pinned',
  about:
    'A shim pins the tools of its server when it first sees them (docs/pins.md). STATE is pinned, changed (the ' +
    'definition changed and is not approved), new (the tool was added later and is not approved) or gone (missing ' +
    'in the last complete list).',
  args: [{ ...serverArg, optional: true }],
  flags: { project, 'all-projects': { help: 'of all projects' } },
  examples: {
    'heimdall mcp pins list': 'lists the tools of this project’s servers',
    'heimdall mcp pins list --all-projects --json': 'the same for all projects, as JSON',
  },
  output:
    'pins: array of {project, server_name, tool_name, state, hash, shown_hash, at, by}; by is null for what was pinned at first sight',
  run: async (context, { args, flags }) => {
    const { allPins } = await pinsFile()
    const { pendingOf, stateOf } = await approvals()
    const { seeable } = await differences()
    const where = flags['all-projects'] === true ? undefined : (await placeOf(context, '', flags.project)).project
    const here = allPins(context.env).filter((one) => (where ?? one.project) === one.project)
    const { server: wanted } = args
    if (wanted !== undefined && !here.some((one) => one.server_name === wanted)) throw notPinned(wanted, where, here)
    const pins = here
      .filter((one) => (wanted ?? one.server_name) === one.server_name)
      .flatMap((server) =>
        [...server.tools.values()].map((tool) => {
          const pin = tool.pinned.at(-1)
          return {
            project: server.project,
            server_name: server.server_name,
            tool_name: tool.name,
            state: stateOf(tool),
            hash: pin?.hash ?? null,
            shown_hash: pendingOf(tool)?.hash ?? null,
            at: pin?.at ?? pendingOf(tool)?.at ?? null,
            by: pin?.by ?? null,
          }
        }),
      )
    const rows = pins.map(({ project: of, server_name: server, tool_name: tool, state, hash, at, by }) =>
      [
        state,
        server,
        tool,
        hash?.slice(0, LISTED_HASH_CHARS) ?? '',
        at ?? '',
        by ?? (hash === null ? '' : 'first sight'),
        ...(where === undefined ? [of] : []),
      ].map(seeable),
    )
    const header = ['STATE', 'SERVER', 'TOOL', 'HASH', 'SINCE', 'BY', ...(where === undefined ? ['PROJECT'] : [])]
    return {
      data: { pins },
      text: pins.length === 0 ? 'No tools are pinned here.' : renderTable(context.style, header, rows),
    }
  },
})

const LISTED_HASH_CHARS = 12
/** Long enough that no other definition with the same beginning can be found. */
const HASH_CHARS = 32
/** A shorter hash could be matched by trial. */
const HASH = /^(bytes-)?[0-9a-f]{16,64}$/

const show = command({
  names: ['heimdall mcp pins show'],
  summary: 'Show what changed in a server’s tools, and how to approve it',
  about:
    'Shows every definition that waits for approval as a diff against the pinned one. Invisible characters (control, ' +
    'zero-width, tag characters) are printed as \\u{…}. For an unchanged tool, its definition.',
  args: [serverArg, toolArg],
  flags: { project },
  examples: {
    'heimdall mcp pins show git': 'shows what changed in the tools of git',
    'heimdall mcp pins show git push': 'the same for one tool',
  },
  output:
    'project, server_name, reached (command line or address when last seen, without secrets), first_seen_at, review_hash (approves all that waits, or null), tools: array of {tool_name, state, gone_at, pinned: [{hash, at, by, definition}], shown: [{hash, at, definition, fields, diff}]}',
  run: async (context, { args, flags }) => {
    const { pendingOf, reviewHash, toolOf, stateOf } = await approvals()
    const { difference, seeable } = await differences()
    const pins = await knownPins(await placeOf(context, args.server, flags.project), context.env)
    const tools = args.tool === undefined ? [...pins.tools.values()] : [toolOf(pins, args.tool)]
    const review = reviewHash(pins)
    const waiting = tools.filter((tool) => pendingOf(tool) !== undefined)
    // To be pasted into a shell: a server chooses the names of its tools.
    const word = (name: string): string => quoted(seeable(name))
    const approve = `heimdall mcp pins approve ${word(args.server)}`
    const linesOf = (tool: ToolRecord): string[] =>
      toolLines(tool, stateOf(tool), { seeable, difference }, context.style)
    const lines =
      args.tool === undefined
        ? [
            `${pins.tools.size} ${pins.tools.size === 1 ? 'tool' : 'tools'} of ${seeable(args.server)}, first seen ${pins.first_seen_at}; ${waiting.length === 0 ? 'nothing waits for approval' : `${waiting.length} to approve`}`,
            `reached by: ${pins.reached.text}`,
            ...waiting.flatMap((tool) => ['', ...linesOf(tool)]),
            ...(review === null
              ? []
              : ['', 'To approve all of it:', `  ${approve} --hash ${review.slice(0, HASH_CHARS)}`]),
          ]
        : tools.flatMap((tool) => {
            const pending = pendingOf(tool)
            return [
              ...linesOf(tool),
              ...(pending === undefined
                ? tool.pinned.flatMap(({ text }) => difference(null, text).lines.map((line) => `    ${line.slice(2)}`))
                : [
                    '',
                    'To approve it:',
                    `  ${approve} ${word(tool.name)} --hash ${pending.hash.slice(0, HASH_CHARS)}`,
                  ]),
            ]
          })
    return {
      data: {
        project: pins.project,
        server_name: pins.server_name,
        reached: pins.reached.text,
        first_seen_at: pins.first_seen_at,
        review_hash: review,
        tools: tools.map((tool) => ({
          tool_name: tool.name,
          state: stateOf(tool),
          gone_at: tool.gone_at,
          pinned: tool.pinned.map(({ hash, at, by, text }) => ({ hash, at, by, definition: text })),
          shown: tool.shown.map(({ hash, at, text }) => {
            const { fields, lines: diff } = difference(tool.pinned.at(-1)?.text ?? null, text)
            return { hash, at, definition: text, fields, diff }
          }),
        })),
      },
      text: lines.join('\n'),
    }
  },
})

const approve = command({
  names: ['heimdall mcp pins approve'],
  summary: 'Approve tool definitions that heimdall mcp pins show has printed',
  about:
    'Only by the hash that heimdall mcp pins show printed: a definition that changed since is rejected. Calls that ' +
    'mode control refuses are allowed from then on, without a restart. Needs a human at a terminal outside of ' +
    'sessions and agents.',
  args: [serverArg, toolArg],
  flags: {
    hash: { value: 'HASH', required: true, help: 'as heimdall mcp pins show prints it' },
    also: { help: 'keep the previous definition approved too, for a server that alternates' },
    project,
  },
  examples: {
    'heimdall mcp pins approve git --hash 3f9a1c0b77d2e4a6': 'approves everything shown under this hash',
    'heimdall mcp pins approve git push --hash 9e0c44d1a2b3f5e7': 'approves one tool',
  },
  output: 'project, server_name, approved (names of tools), approved_by (the unix user), approved_at',
  run: async (context, { args, flags }) => {
    if (!HASH.test(flags.hash))
      throw usageError('--hash takes what heimdall mcp pins show printed, at least 16 digits of it')
    const { requirePerson } = await import('../../person.ts')
    const person = requirePerson('heimdall mcp pins approve')
    const place = await placeOf(context, args.server, flags.project)
    const { approved } = await approvals()
    const { seeable } = await differences()
    const at = new Date(context.clock.wallMs()).toISOString()
    const approval = {
      toolName: args.tool ?? null,
      hash: flags.hash,
      isBeside: flags.also === true,
      by: person.name,
      at,
    }
    let names: readonly string[] = []
    await change(place, context.env, (pins) => {
      const result = approved(pins, approval)
      names = result.names
      return result.pins
    })
    return {
      data: {
        project: place.project,
        server_name: place.serverName,
        approved: names,
        approved_by: person.name,
        approved_at: at,
      },
      text: names.map((name) => `Approved ${seeable(name)} of ${seeable(args.server)} as shown`).join('\n'),
    }
  },
})

const remove = command({
  names: ['heimdall mcp pins remove'],
  summary: 'Remove the pins of a server, or of one of its tools',
  about:
    'The next list of the server is pinned as at first sight. A single removed tool counts as new when it is listed ' +
    'again. Needs a human.',
  args: [serverArg, toolArg],
  flags: { project },
  examples: { 'heimdall mcp pins remove git': 'pins the next list of its tools' },
  output: 'project, server_name, removed (names of tools)',
  run: async (context, { args, flags }) => {
    const { requirePerson } = await import('../../person.ts')
    requirePerson('heimdall mcp pins remove')
    const place = await placeOf(context, args.server, flags.project)
    const { toolOf } = await approvals()
    const { seeable } = await differences()
    let removed: readonly string[] = []
    await change(place, context.env, (pins) => {
      if (args.tool === undefined) {
        removed = [...pins.tools.keys()]
        return null
      }
      const { name } = toolOf(pins, args.tool)
      removed = [name]
      return { ...pins, tools: new Map([...pins.tools].filter(([one]) => one !== name)) }
    })
    const what = args.tool === undefined ? `${removed.length} tools` : seeable(args.tool)
    return {
      data: { project: place.project, server_name: place.serverName, removed },
      text: `Removed ${what} of ${seeable(args.server)}`,
    }
  },
})

export const pinCommands: readonly Command[] = [list, show, approve, remove]

async function placeOf(context: Context, serverName: string, folder: string | undefined): Promise<PinsPlace> {
  const { pinsPlace } = await pinsFile()
  if (folder === undefined) return pinsPlace(context.env, context.cwd, serverName)
  const path = context.resolve(folder)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usageError(
      `--project takes the folder of a project; there is no folder ${path}`,
      'heimdall mcp pins list --all-projects shows the projects of all pins',
    )
  return pinsPlace(context.env, path, serverName)
}

async function knownPins(place: PinsPlace, env: Env): Promise<ServerPins> {
  const { allPins, readPins } = await pinsFile()
  const pins = readPins(place)
  if (pins !== undefined) return pins
  throw notPinned(
    place.serverName,
    place.project,
    allPins(env).filter((one) => one.project === place.project),
  )
}

/** Checked before the lock is taken, which would create a file for an unknown server, and again under it. */
async function change(place: PinsPlace, env: Env, to: (pins: ServerPins) => ServerPins | null): Promise<void> {
  const { changePins } = await pinsFile()
  await knownPins(place, env)
  changePins(place, (pins) => {
    if (pins === undefined) throw notPinned(place.serverName, place.project, [])
    return to(pins)
  })
}

/** `of`: undefined for all projects. */
function notPinned(server: string, of: string | undefined, known: readonly ServerPins[]): HeimdallError {
  return new HeimdallError(
    'PIN_NOT_FOUND',
    `no pins for server ${printable(server)}${of === undefined ? '' : ` in ${of}`}`,
    {
      hint: didYouMean(
        server,
        known.map((one) => one.server_name),
        'heimdall mcp pins list --all-projects shows all pins; --project names another project',
      ),
    },
  )
}

function toolLines(
  tool: ToolRecord,
  state: string,
  { seeable, difference }: { readonly seeable: (text: string) => string; readonly difference: typeof Difference },
  { color }: Style,
): string[] {
  const pin = tool.pinned.at(-1)
  return [
    `${color.bold(seeable(tool.name))}  ${state}${tool.gone_at === null ? '' : `, not listed since ${tool.gone_at}`}`,
    ...(pin === undefined
      ? []
      : [seeable(`  pinned ${pin.hash.slice(0, HASH_CHARS)} ${pin.at} by ${pin.by ?? 'first sight'}`)]),
    ...tool.shown.flatMap(({ hash, at, text }) => [
      `  shown  ${hash.slice(0, HASH_CHARS)} ${at}`,
      ...difference(pin?.text ?? null, text).lines.map((line) =>
        line.startsWith('-') ? color.red(`    ${line}`) : color.green(`    ${line}`),
      ),
    ]),
  ]
}
