// The one-time link carries a key after #key=, which is taken out of the address and used once.
import { signInWith } from './client.ts'
import { HubError } from './hub-error.ts'
import { useStore } from './store.ts'

export const keyIn = (text: string): string | undefined => /#key=(.*)$/.exec(text)?.[1]

/** The hub judges the key, also one that was cut. */
export async function redeemKey(key: string): Promise<boolean> {
  try {
    await signInWith(key)
    useStore.setState({ signInError: null })
    return true
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    useStore.setState({ signInError: error })
    return false
  }
}

/** Before the router reads the address. */
export async function signInFromAddress(): Promise<void> {
  const key = keyIn(location.hash)
  if (key === undefined) return
  history.replaceState(null, '', `${location.pathname}${location.search}#/needs-you`)
  await redeemKey(key)
}
