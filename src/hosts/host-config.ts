// One configuration file of a host on disk: read as text, and written back byte for byte but for the edits.
import { HeimdallError } from '../errors.ts'
import { escapeControls } from '../ids.ts'
import { resolveInside } from '../paths.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { rewriteFile } from '../storage/rewrite-file.ts'
import type { ConfigFile } from './config-files.ts'
import type { ConfigText, Unreadable } from './config-text.ts'
import { HOSTS } from './host-table.ts'
import { readJsonConfig } from './json-config.ts'
import { readTomlConfig } from './toml-config.ts'

export interface HostConfig {
  readonly file: ConfigFile
  readonly bytes: Buffer
  readonly config: ConfigText
}

const BYTE_ORDER_MARK = '\uFEFF'

/** Nothing when the file is gone. */
export function readHostConfig(file: ConfigFile): HostConfig | undefined {
  if (file.problem !== undefined)
    throw new HeimdallError('HOST_CONFIG_INVALID', `${escapeControls(file.path)} ${file.problem}`, {
      hint: 'make it lead to the file, or remove it',
    })
  // A link in somebody's repository decides over no file elsewhere.
  if (file.within !== undefined) resolveInside(file.within, file.path)
  const bytes = readFileIfThere(file.realPath)
  return bytes === undefined ? undefined : { file, bytes, config: configIn(file, textOf(file, bytes)) }
}

/** The text as a configuration of that file's host; refused with the place where it cannot be read. */
export function configIn(file: ConfigFile, text: string): ConfigText {
  const paths = HOSTS[file.host].servers
  const isToml = file.format === 'toml'
  const read = readable(() => (isToml ? readTomlConfig(text, paths) : readJsonConfig(text, paths)))
  if ('servers' in read) return read
  throw new HeimdallError(
    'HOST_CONFIG_INVALID',
    `${escapeControls(file.path)}:${read.line}:${read.column}: ${read.problem}`,
    { hint: `not ${isToml ? 'TOML' : 'JSON'} as ${HOSTS[file.host].title} reads it; nothing in it was changed` },
  )
}

/** Both parsers go down by calling themselves, and a hostile text goes deeper than they can. */
function readable(read: () => ConfigText | Unreadable): ConfigText | Unreadable {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { line: 1, column: 1, problem: 'nested too deeply' }
  }
}

/** False when the file has changed since it was read: then nothing was written. */
export function writeHostConfig({ file, bytes }: HostConfig, text: string): boolean {
  const mark = bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? BYTE_ORDER_MARK : ''
  return rewriteFile(file.realPath, bytes, Buffer.from(mark + text))
}

/** Without its byte order mark, which belongs to no format. */
function textOf(file: ConfigFile, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new HeimdallError('HOST_CONFIG_INVALID', `${escapeControls(file.path)} is not text in UTF-8`, {
      hint: 'save it as UTF-8; nothing in it was changed',
      cause: error,
    })
  }
}
