// heimdall config list: every setting, and with --show-origin the place that set it.
import { CONFIG_KEYS, loadConfig, type Config } from '../../config.ts'
import type { Run } from '../command.ts'
import { renderTable } from '../render/style.ts'
import type { configList } from '../table/core.ts'

export const run: Run<typeof configList> = async (context, { flags }) => {
  const config = await loadConfig({ cwd: context.cwd, env: context.env, file: context.configFile })
  const settings = (Object.keys(config) as (keyof Config)[]).map((key) => ({
    key,
    ...config[key],
    help: CONFIG_KEYS[key].help,
  }))
  const rows = settings.map(({ key, value, origin }) => [
    key,
    showValue(value),
    ...(flags['show-origin'] === true ? [origin] : []),
  ])
  const header = ['KEY', 'VALUE', ...(flags['show-origin'] === true ? ['ORIGIN'] : [])]
  return { data: { settings }, text: renderTable(context.style, header, rows) }
}

export function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
