#include <math.h>
#include <stdbool.h>
typedef struct { signed char v[4]; } int8x4;
typedef struct { unsigned char v[4]; } uint8x4;
typedef struct { bool v[4]; } boolx4;
void narrow(signed char* restrict data0, bool* restrict data1, signed char* restrict data2, unsigned char* restrict data3) {
  for (int i0_5 = 0; i0_5 < 8; i0_5++) {
    int v7 = i0_5 * 4;
    int8x4 v9 = *(int8x4*)(data2 + v7);
    uint8x4 v11 = *(uint8x4*)(data3 + v7);
    signed char v12_0 = ((union { unsigned char a; signed char b; }){.a = v11.v[0]}).b;
    signed char v12_1 = ((union { unsigned char a; signed char b; }){.a = v11.v[1]}).b;
    signed char v12_2 = ((union { unsigned char a; signed char b; }){.a = v11.v[2]}).b;
    signed char v12_3 = ((union { unsigned char a; signed char b; }){.a = v11.v[3]}).b;
    signed char v13_0 = (signed char)(v9.v[0] + v12_0);
    signed char v13_1 = (signed char)(v9.v[1] + v12_1);
    signed char v13_2 = (signed char)(v9.v[2] + v12_2);
    signed char v13_3 = (signed char)(v9.v[3] + v12_3);
    bool v15_0 = v13_0 < 0;
    bool v15_1 = v13_1 < 0;
    bool v15_2 = v13_2 < 0;
    bool v15_3 = v13_3 < 0;
    *(boolx4*)(data1 + v7) = (boolx4){{v15_0, v15_1, v15_2, v15_3}};
    *(int8x4*)(data0 + v7) = (int8x4){{v13_0, v13_1, v13_2, v13_3}};
  }
}
