// The page of a browser that is not signed in, and of a link to a project that the hub does not show.
import { type ReactNode, useState } from 'react'
import type { HubReply } from '../../../src/hub/contract.ts'
import { Button, Copy } from '../components/controls.tsx'
import { Empty } from '../components/feedback.tsx'
import { Brand } from '../components/icons.tsx'
import { useFeed } from '../data/feed.ts'
import { keyIn, redeemKey } from '../data/sign-in.ts'
import { useStore } from '../data/store.ts'
import { cx } from '../components/cx.ts'
import css from './shell.module.css'

export function SignedOut(): ReactNode {
  const [text, setText] = useState('')
  const error = useStore((state) => state.signInError)
  const feed = useFeed()
  const isTaken = useStore(({ connection }) => connection.status === 'signed-out' && connection.isTaken)
  const enter = async (): Promise<void> => {
    if (await redeemKey(keyIn(text.trim()) ?? text.trim())) feed.reconnect()
  }
  return (
    <main className={css.signedOut}>
      <p className={cx('middle', css.brand)}>
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
      {error !== null && (
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
