// Signing in: the one-time link carries a key behind #key=, which is used once and taken out of the address at once.
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import type { HubReply } from '../../../src/hub/contract.ts'
import { HubError, signInWith } from '../live/api.ts'
import { startFeed } from '../live/feed.ts'
import { useWatch } from '../live/hooks.ts'
import { Button, Copy } from '../parts/controls.tsx'
import { Empty } from '../parts/days.tsx'
import { Brand } from '../parts/icons.tsx'

let refused: HubError | undefined
const listeners = new Set<() => void>()

function onRefused(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The key is used as it stands: one that was cut is no key, and that is for the hub to say. */
async function redeem(key: string): Promise<void> {
  try {
    await signInWith(key)
    refused = undefined
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    refused = error
  }
  for (const listener of listeners) listener()
}

const keyIn = (hash: string): string | undefined => /^#key=(.*)$/.exec(hash)?.[1]

/** With the key of the address, if there is one. */
export async function signIn(): Promise<void> {
  const key = keyIn(location.hash)
  if (key === undefined) return
  history.replaceState(null, '', `${location.pathname}${location.search}#/needs-you`)
  window.dispatchEvent(new HashChangeEvent('hashchange'))
  await redeem(key)
}

/** A link that is followed in a tab that has the page already changes the address alone: nothing is loaded anew. */
export function signInByLinks(): void {
  window.addEventListener('hashchange', () => {
    if (keyIn(location.hash) === undefined) return
    void signIn().then(startFeed)
  })
}

export function SignedOut(): ReactNode {
  const [text, setText] = useState('')
  const error = useSyncExternalStore(onRefused, () => refused)
  const isTaken = useWatch(({ connection }) => connection.status === 'signed-out' && connection.isTaken)
  const enter = async (): Promise<void> => {
    await redeem(/#key=(.*)$/.exec(text.trim())?.[1] ?? text.trim())
    if (refused === undefined) await startFeed()
  }
  return (
    <main className="signed-out">
      <p className="brand">
        <Brand /> Heimdall
      </p>
      <h1>This browser is not signed in</h1>
      <p className="second">
        Only the person whose agents these are can open this page. Ask for a link in a terminal of your own; it works
        once.
      </p>
      <p>
        <Copy text="heimdall open" className="button mono" />
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void enter()
        }}
      >
        <label className="field">
          <span className="hidden-text">Link or key</span>
          <input value={text} onChange={(event) => setText(event.target.value)} placeholder="Paste the link here" />
          <Button size="small" isOff={text.trim() === ''} onPress={() => void enter()}>
            Sign in
          </Button>
        </label>
      </form>
      {isTaken && (
        <p className="is-clash" role="alert">
          The program at {location.host} did not prove that it is the hub that this browser has signed in to, and was
          sent nothing. A link from your own terminal is safe to follow.
        </p>
      )}
      {error !== undefined && (
        <p className="is-clash" role="alert">
          ✕ {error.code}: {error.message}
        </p>
      )}
    </main>
  )
}

/** A link of a project that the hub does not show, or was cut. */
export function NoProject({ hub: { projects } }: { readonly hub: HubReply }): ReactNode {
  return (
    <Empty title="The hub does not show this project">
      The link names one that was cut short, or that is not watched here. In its folder, <code>heimdall up</code> adds
      it. Shown are:{' '}
      {projects.map(({ project, name, root }) => (
        <a key={project} className="is-work underlined" href={`?${new URLSearchParams({ project }).toString()}`}>
          {name} ({root})
        </a>
      ))}
    </Empty>
  )
}
