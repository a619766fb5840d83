// Before the suite of real hosts: says which were found. None at all is a failure, because then nothing is shown.
import { hostLines, installedHosts } from './installed.ts'

export function setup(): void {
  console.log(hostLines().join('\n'))
  if (installedHosts().length === 0) throw new Error('none of the hosts is installed: npm run hosts:install')
}
