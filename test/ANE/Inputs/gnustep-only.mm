#import <Foundation/Foundation.h>

const char *spell(NSString *text) { return [text lossyCString]; }
id thread() { return GSCurrentThread(); }
