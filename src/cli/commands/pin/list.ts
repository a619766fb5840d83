// heimdall pin list: tools that are known, and which of them wait for a person.
import { pendingOf, stateOf } from '../../../pins/approve.ts'
import { seeable } from '../../../pins/difference.ts'
import { allPins } from '../../../pins/pins-file.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { pinList } from '../../table/pin.ts'
import { pinsNotFound, placeOf } from './which-pins.ts'

const HASH_CHARS = 12

export const run: Run<typeof pinList> = async (context, { args, flags }) => {
  const project = flags.all === true ? undefined : placeOf(context, '', flags.project).project
  const here = allPins(context.env).filter((one) => (project ?? one.project) === one.project)
  const { server: wanted } = args
  if (wanted !== undefined && !here.some((one) => one.server_name === wanted))
    throw pinsNotFound(
      wanted,
      project,
      here.map((one) => one.server_name),
    )
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
  const rows = pins.map(({ project: where, server_name: server, tool_name: tool, state, hash, at, by }) =>
    [
      state,
      server,
      tool,
      hash?.slice(0, HASH_CHARS) ?? '',
      at ?? '',
      by ?? (hash === null ? '' : 'first sight'),
      ...(project === undefined ? [where] : []),
    ].map(seeable),
  )
  const header = ['STATE', 'SERVER', 'TOOL', 'HASH', 'SINCE', 'BY', ...(project === undefined ? ['PROJECT'] : [])]
  return {
    data: { pins },
    text: pins.length === 0 ? 'No tools are pinned here.' : renderTable(context.style, header, rows),
  }
}
