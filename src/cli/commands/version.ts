// heimdall version: what is running, for a bug report.
import type { Run } from '../command.ts'
import type { version } from '../table/core.ts'
import { VERSION } from '../version.ts'

export const run: Run<typeof version> = () => {
  const data = { version: VERSION, node: process.version, platform: `${process.platform}-${process.arch}` }
  return Promise.resolve({ data, text: `heimdall ${data.version}, node ${data.node}, ${data.platform}` })
}
