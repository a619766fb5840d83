// heimdall config list: every setting, and with --show-origin the place that set it, or wanted to.
import { CONFIG_KEYS, type Config } from '../../config.ts'
import { escapeControls } from '../../ids.ts'
import type { Run } from '../command.ts'
import { renderTable } from '../render/style.ts'
import type { configList } from '../table/core.ts'

const FIX = 'heimdall trust'

export const run: Run<typeof configList> = async (context, { flags }) => {
  const config = await context.settings()
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

/** Also of a file that nobody trusts: it must not be able to draw over what is shown of it. */
export function showValue(value: unknown): string {
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}
