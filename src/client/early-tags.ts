// Requests of ours to a session that was started before they moved to 0x40: it goes on under the tags it knows.
import { readFileSync } from 'node:fs'
import { isErrno } from '../errors.ts'
import { FRAMES, type FrameNameFrom } from '../wire/frames.ts'
import type { Endpoint } from './endpoint.ts'

/** The frame as the session knows it. What answers `hm pipe` elsewhere is younger than the move. */
export function requestFor(endpoint: Endpoint, name: FrameNameFrom<'client'>, frame: Buffer): Buffer {
  const entry = FRAMES[name]
  if ('earlyTag' in entry && typeof endpoint === 'string' && isEarly(endpoint)) frame[0] = entry.earlyTag
  return frame
}

/** A pid file of ours (it has a key) that does not say which frames are known. Without one there is nothing to go by, and nothing early about it. */
function isEarly(socketPath: string): boolean {
  try {
    const text = readFileSync(socketPath.replace(/\.sock$/, '.pid'), 'utf8')
    return /^key /m.test(text) && !/^protocol /m.test(text)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES')) return false
    throw error
  }
}
