import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type CDPSession, type ElementHandle, launch, type Page } from 'puppeteer-core';
import decodeQR from 'qr/decode.js';
import { eventually } from '../support/live.js';

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** Where the pictures of this run are. */
export const pictures = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'crm-board-'));

// A machine without a mouse, as those of tests are, has a browser in which nothing can be pointed at (`hover: none`).
const withMouse = '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4';

/** The browser of a run, without a window. */
export const openBrowser = () =>
  launch({
    executablePath: process.env.CHROMIUM!,
    // Root, as whom containers run, has no sandbox.
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--lang=en-US', withMouse],
    defaultViewport: desktop,
  });

/** What stands on the board: stage by stage, ids and titles from the top. */
export type Shown = { stageId: string; deals: string[] }[];

/** A tab in a window of its own: one that stands behind another is drawn once a second. */
async function inWindow(context: BrowserContext): Promise<Page> {
  const before = new Set(context.targets());
  const session = await context.browser().target().createCDPSession();
  await session.send('Target.createTarget', { url: 'about:blank', newWindow: true, browserContextId: context.id });
  const target = await context.waitForTarget((one) => !before.has(one) && one.type() === 'page');
  await session.detach();
  return (await target.page())!;
}

/** A tab, with what went wrong in it. */
export class Screen {
  /** Errors of the console, violations of the policy among them, and what no code caught. */
  readonly faults: string[] = [];
  /** What was asked for by HTTP. */
  readonly asked: string[] = [];
  /** What came over its sockets. */
  readonly heard: string[] = [];
  /** The sockets that are open or being opened. */
  readonly sockets = new Set<string>();

  private constructor(
    readonly page: Page,
    private readonly origin: string,
    private readonly session: CDPSession,
  ) {}

  static async open(context: BrowserContext, origin: string): Promise<Screen> {
    const page = await inWindow(context);
    const session = await page.createCDPSession();
    const screen = new Screen(page, origin, session);
    page.on('console', (message) => {
      const url = message.location().url ?? '';
      // Scalar warns of cookies of other origins before every request that has one.
      const isTold = message.type() === 'error' || (message.type() === 'warn' && !url.endsWith('/reference.js'));
      if (isTold) screen.faults.push(`${message.text()} ${url}`);
    });
    page.on('pageerror', (error) => screen.faults.push(String(error)));
    page.on('request', (request) => screen.asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await session.send('Network.enable');
    // Its window is not the one in front; its keys and its focus are to work all the same.
    await session.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    session.on('Network.webSocketFrameReceived', ({ response }) => screen.heard.push(response.payloadData));
    session.on('Network.webSocketCreated', ({ requestId }) => screen.sockets.add(requestId));
    session.on('Network.webSocketClosed', ({ requestId }) => screen.sockets.delete(requestId));
    return screen;
  }

  /** Its scripts stop at the next thing that happens there, and what comes meanwhile waits. Returns how to go on. */
  async hold(): Promise<() => Promise<void>> {
    await this.session.send('Debugger.enable');
    await this.session.send('Debugger.pause');
    return () => this.session.send('Debugger.disable');
  }

  async visit(path: string): Promise<void> {
    // Those of the page before go with it, and nobody tells of it.
    this.sockets.clear();
    await this.page.goto(new URL(path, this.origin).href, { waitUntil: 'load' });
  }

  find(selector: string): Promise<ElementHandle<Element>> {
    return this.page.waitForSelector(selector, { timeout: 8000 }) as Promise<ElementHandle<Element>>;
  }

  /** Presses the button that says this. */
  async press(text: string): Promise<void> {
    const button = await this.page.waitForSelector(`::-p-xpath(//button[contains(., "${text}")])`, { timeout: 20_000 });
    await button!.evaluate((element) => (element as HTMLElement).click());
  }

  /** Waits until the page shows a text. */
  async says(text: string): Promise<void> {
    await eventually(async () => (await this.page.evaluate(() => document.body.textContent)).includes(text), 8000);
  }

  /** The cookies that it sends, as a header. */
  async cookie(): Promise<string> {
    const all = await this.page.browserContext().cookies();
    return all.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  async shown(): Promise<Shown> {
    return this.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('[data-stage]')].map((column) => ({
        stageId: column.dataset.stage!,
        deals: [...column.querySelectorAll<HTMLElement>('[data-deal]')].map(
          (card) => `${card.dataset.deal} ${card.querySelector('b')!.textContent}`,
        ),
      })),
    );
  }

  /** Takes a card by the mouse to the top of a column. */
  async drag(dealId: string, stageId: string): Promise<void> {
    const card = await (await this.find(`[data-deal="${dealId}"] b`)).boundingBox();
    const column = await (await this.find(`[data-stage="${stageId}"] ul`)).boundingBox();
    const { mouse } = this.page;
    await mouse.move(card!.x + 20, card!.y + 8);
    await mouse.down();
    await mouse.move(column!.x + 60, column!.y + 40, { steps: 8 });
    await mouse.move(column!.x + 60, column!.y + 2, { steps: 3 });
    await mouse.up();
  }

  /** The id of the deal that has the focus. */
  focused(): Promise<string | undefined> {
    return this.page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.deal);
  }

  /** What a reader of QR codes finds in the picture of an element. */
  async read(selector: string): Promise<string> {
    const png = await (await this.find(selector)).screenshot({ encoding: 'base64' });
    const tab = await this.page.browserContext().newPage();
    const image = await tab.evaluate(async (source) => {
      const picture = new Image();
      picture.src = `data:image/png;base64,${source}`;
      await picture.decode();
      const { width, height } = picture;
      const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')!;
      context.drawImage(picture, 0, 0);
      return { width, height, data: [...context.getImageData(0, 0, width, height).data] };
    }, png);
    await tab.close();
    return decodeQR({ ...image, data: Uint8Array.from(image.data) });
  }

  async picture(name: string): Promise<void> {
    await this.page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}
