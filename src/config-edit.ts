// Changes one setting in the text of heimdall.toml and leaves the rest as it is.
import { isDeepStrictEqual } from 'node:util'
import { type ConfigKey, parseConfig } from './config.ts'
import { HeimdallError } from './errors.ts'

/** The new text. Rejects a value that the key does not allow, and a file in which the key cannot be replaced by one line. */
export async function withSetting(
  text: string,
  path: string,
  key: ConfigKey,
  value: string | number | boolean,
): Promise<string> {
  const before = await parseConfig(text, path)
  const line = `${key} = ${JSON.stringify(value)}`
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const firstTable = lines.findIndex((one) => /^\s*\[/.test(one))
  const at = lines.findIndex((one, i) => (firstTable < 0 || i < firstTable) && one.split('=')[0]?.trim() === key)
  if (at >= 0) lines[at] = line
  else lines.splice(firstTable < 0 ? lines.length : firstTable, 0, line)
  const after = `${lines.join('\n')}\n`
  // First alone: a value of the wrong type is the caller's mistake, not a problem of the file.
  const { [key]: wanted } = await parseConfig(`${line}\n`, path)
  const { [key]: now, ...rest } = await parsed(after, path)
  const { [key]: _, ...others } = before
  if (isDeepStrictEqual(now, wanted) && isDeepStrictEqual(rest, others)) return after
  throw new HeimdallError('CONFIG_INVALID', `${path} has a value of ${key} that this command cannot replace`, {
    hint: `edit the file: ${line}`,
  })
}

/** Empty for a text that is no longer valid. */
async function parsed(text: string, path: string): ReturnType<typeof parseConfig> {
  try {
    return await parseConfig(text, path)
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'CONFIG_INVALID') return {}
    throw error
  }
}
