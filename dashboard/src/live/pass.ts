// The pass of this browser, shown with every request. It lies in the page's own storage: the cookie beside it goes to every port of this host, whoever listens there.
const KEY = 'heimdall.pass'

/** Where storage is switched off, the pass is good until the page is loaded anew. */
let unstored = ''

export function keepPass(pass: string): void {
  unstored = pass
  try {
    localStorage.setItem(KEY, pass)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
  }
}

/** Read each time: another tab may have signed in anew. */
export function passNow(): string {
  try {
    return localStorage.getItem(KEY) ?? unstored
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    return unstored
  }
}
