// Headers that only the server sees: those of the command line, and secrets that are bound to it.
import { BEARER, headerOf } from '../secrets/injectable.ts'
import type { Secrets } from '../secrets/secrets.ts'

export function headersOf(
  given: Readonly<Record<string, string>>,
  secrets: Secrets | null,
): Readonly<Record<string, string>> {
  const bound = Object.entries(secrets?.values ?? {}).map(([name, value]) => [
    headerOf(name),
    name === BEARER ? `Bearer ${value}` : value,
  ])
  return { ...given, ...(Object.fromEntries(bound) as Record<string, string>) }
}
