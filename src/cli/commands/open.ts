// heimdall open: a link to the dashboard, for the person at this terminal.
import { requirePerson } from '../../person.ts'
import { stateDir } from '../../paths.ts'
import { linkFrom } from '../../hub/client.ts'
import { notRunning, readHubFile } from '../../hub/door/hub-file.ts'
import type { Run } from '../command.ts'
import type { open } from '../table/hub.ts'

export const run: Run<typeof open> = async ({ env }) => {
  requirePerson('heimdall open')
  const hub = readHubFile(stateDir(env))
  if (hub === undefined) throw notRunning()
  const link = await linkFrom(hub)
  return { data: { link, url: hub.url }, text: link }
}
