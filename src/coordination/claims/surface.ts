// A scope as a text that means the same from the project root on any machine.
import type { Scope } from '../../scopes/scope.ts'

/** A folder ends in `/**`: where it does not exist, `docs/next.js` would be taken for a file. */
export function surfaceOf({ canonical, kind }: Pick<Scope, 'canonical' | 'kind'>): string {
  return kind === 'dir' && canonical !== '**' ? `${canonical}/**` : canonical
}
