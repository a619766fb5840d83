// The page's entry: signs in with the key of the link, then shows what the hub's feed says.
import './shell/language.ts'
import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './styles/shell.css'
import './styles/screens.css'
import './styles/more-screens.css'
import { createRoot } from 'react-dom/client'
import { startFeed, wakeWithBrowser } from './live/feed.ts'
import { App } from './shell/app.tsx'
import { listenToKeys } from './shell/keys.ts'
import { startNotices } from './shell/notices.ts'
import { signIn, signInByLinks } from './shell/sign-in.tsx'
import { applyTaste } from './shell/taste.ts'

applyTaste()
listenToKeys()
wakeWithBrowser()
startNotices()
const root = document.querySelector('#root')
if (root === null) throw new Error('the page has no root')
createRoot(root).render(<App />)
await signIn()
signInByLinks()
await startFeed()
