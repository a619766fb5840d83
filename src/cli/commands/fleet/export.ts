// heimdall fleet export: the whole shared state as a file.
import { existsSync } from 'node:fs'
import { allOf } from '../../../coordination/annex.ts'
import { wholeState } from '../../../coordination/sqlite/whole-state.ts'
import { membershipIn } from '../../../coordination/membership.ts'
import { storePath } from '../../../coordination/store-path.ts'
import { HeimdallError } from '../../../errors.ts'
import { FLEET_BRIEF_BYTES_MAX } from '../../../limits.ts'
import { replaceFile } from '../../../storage/atomic-file.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { outputPath } from '../../output-file.ts'
import type { fleetExport } from '../../table/fleet.ts'

export const run: Run<typeof fleetExport> = async (context, { args }) => {
  const file = outputPath(context.resolve(args.file))
  if (existsSync(file)) throw new HeimdallError('FILE_EXISTS', `${file} exists already`, { hint: 'name a new file' })
  const { path, beside } = await withRoom(context, async (room) => {
    if (membershipIn(room.store) !== undefined) await room.store.catchUp()
    return { path: storePath(room.project), beside: await allOf(room.store.annex, FLEET_BRIEF_BYTES_MAX) }
  })
  const { at, text } = wholeState(path, beside)
  replaceFile(file, text, { mode: 0o600 })
  return {
    data: { file, seq: at.seq, bytes: Buffer.byteLength(text) },
    text: `Everything up to entry ${at.seq} is in ${file}`,
  }
}
