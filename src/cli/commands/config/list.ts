// heimdall config list: every setting, and with --show-origin the place that set it, or wanted to.
import { CONFIG_KEYS, type Config } from '../../../config.ts'
import { HeimdallError } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import type { Context, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { configList } from '../../table/core.ts'

const FIX = 'heimdall trust'

export const run: Run<typeof configList> = async (context, { flags }) => {
  const config = await settingsOf(context)
  const settings = (Object.keys(config) as (keyof Config)[]).map((key) => {
    const { ignored, ...counts } = config[key]
    return {
      key,
      ...counts,
      ...(ignored === undefined ? {} : { ignored: { ...ignored, fix: FIX } }),
      help: CONFIG_KEYS[key].help,
    }
  })
  const rows = settings.flatMap(({ key, value, origin, ignored }) => {
    if (flags['show-origin'] !== true) return [[key, showValue(value)]]
    const row = [key, showValue(value), origin]
    return ignored === undefined
      ? [row]
      : [row, [key, showValue(ignored.value), `ignored: ${ignored.origin} is not trusted (${FIX})`]]
  })
  const header = ['KEY', 'VALUE', ...(flags['show-origin'] === true ? ['ORIGIN'] : [])]
  return { data: { settings }, text: renderTable(context.style, header, rows) }
}

/** A store that cannot be read is for `doctor` to explain; the rest of the settings are still worth seeing. */
export async function settingsOf(context: Context): Promise<Config> {
  const config = await context.settings()
  try {
    const { asInRepository } = await import('../../repository-settings.ts')
    return await asInRepository(context, config)
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    // No folder, no repository: what is left is all there is.
    if (error.code === 'FOLDER_GONE') return config
    if (!error.code.startsWith('STORE_')) throw error
    context.note(`warning: what the repository says is not known: ${error.message}`)
    return config
  }
}

/** Also of a file that nobody trusts: it must not be able to draw over what is shown of it. */
export function showValue(value: unknown): string {
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}
