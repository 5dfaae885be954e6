// How many pixels of a picture have the colour within the rectangles, and how many elsewhere.
async ({ png, rects, colour }) => {
  const SLACK = 3;
  const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const [red, green, blue] = colour.match(/\d+/g).map(Number);
  const isWithin = (x, y) =>
    rects.some(([left, top, width, height]) => {
      const across = x >= left - SLACK && x <= left + width + SLACK;
      return across && y >= top - SLACK && y <= top + height + SLACK;
    });
  let inside = 0;
  let outside = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] !== red || data[at + 1] !== green || data[at + 2] !== blue) continue;
    const pixel = at / 4;
    if (isWithin(pixel % image.width, Math.floor(pixel / image.width))) inside++;
    else outside++;
  }
  return { inside, outside };
}
