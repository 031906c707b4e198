/** A position in degrees with hemispheres. */
export const positionText = ({ lng, lat }: { readonly lng: number; readonly lat: number }): string =>
  `${Math.abs(lat).toFixed(5)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lng).toFixed(5)}° ${lng < 0 ? 'W' : 'E'}`;
